/** The module for blueprints: the catalog of ready-made recurring tasks, and the jobs created from them. */
import type { CliContext } from '../../cli/base/context.ts';
import type { Module } from '../../cli/base/module.ts';
import { COMMAND_FILES } from './cli/built/command-files.ts';

export const blueprints: Module<CliContext> = {
  name: 'blueprints',
  commands: COMMAND_FILES,
  compiler: async () => (await import('./compiler/publish.ts')).blueprintCompiler,
  operations: async () => (await import('./cli/operations.ts')).blueprintOperations,
};
