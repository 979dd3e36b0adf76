/** Knows the structure of senders' payloads, and the authors of the text in them. */
import type { CliContext } from '../../cli/base/context.ts';
import type { Module } from '../../cli/base/module.ts';
import { COMMAND_FILES } from './cli/built/command-files.ts';

export const payloads: Module<CliContext> = {
  name: 'payloads',
  commands: COMMAND_FILES,
  compiler: async () => (await import('./compiler/part.ts')).compilerPart,
  runtime: {
    marks: async () => (await import('./runtime/untrusted/markers.ts')).marks,
  },
  payloads: async () => (await import('./cli/payload-tools.ts')).payloadTools,
};
