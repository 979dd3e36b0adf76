/** Known agent programs: how each is started, read, continued and confined, as data. */
import type { CliContext } from '../../cli/base/context.ts';
import type { Module } from '../../cli/base/module.ts';
import { COMMAND_FILES } from './cli/built/command-files.ts';

export const agents: Module<CliContext> = {
  name: 'agents',
  commands: COMMAND_FILES,
  versions: async () => (await import('./cli/check-versions.ts')).checkVersions,
  runtime: { programs: async () => (await import('./runtime/open-program.ts')).openProgram },
  compiler: async () => (await import('./compiler/part.ts')).agentsCompiler,
};
