/** What senders' payloads look like, and who may have written what in them. */
import type { CliContext } from '../../cli/base/context.ts';
import type { Module } from '../../cli/base/module.ts';
import { COMMAND_FILES } from './cli/commands/built/command-files.ts';

export const payloads: Module<CliContext> = {
  name: 'payloads',
  summary: "What senders' payloads look like, and who may have written what in them.",
  commands: COMMAND_FILES,
  compiler: async () => (await import('./compiler/part.ts')).compilerPart,
  operations: null,
  runtime: {
    store: null,
    keeper: null,
    budgets: null,
    marks: async () => (await import('./runtime/untrusted/markers.ts')).marks,
    guard: null,
    console: null,
    tracing: null,
    sandbox: null,
    outputs: null,
    approvals: null,
  },
  database: null,
  payloads: async () => (await import('./cli/payload-tools.ts')).payloadTools,
  names: null,
  explain: null,
  kept: null,
  gate: null,
};
