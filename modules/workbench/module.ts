/** Requests are kept, explained, tested and replayed, and a change is compared before it is served. */
import type { CliContext } from '../../cli/base/context.ts';
import type { Module } from '../../cli/base/module.ts';
import { COMMAND_FILES } from './cli/commands/built/command-files.ts';

export const workbench: Module<CliContext> = {
  name: 'workbench',
  summary: 'Requests are kept, explained, tested and replayed, and a change is compared before it is served.',
  commands: COMMAND_FILES,
  compiler: null,
  operations: null,
  runtime: {
    store: null,
    keeper: async () => (await import('./runtime/capture/keep.ts')).openKeeper,
    budgets: null,
    marks: null,
    guard: null,
    console: null,
    tracing: null,
    sandbox: null,
    outputs: null,
    approvals: null,
  },
  database: null,
  payloads: null,
  names: null,
  explain: async () => (await import('./cli/explain/explain-route.ts')).explainSent,
  kept: async () => (await import('./cli/kept-tools.ts')).keptTools,
  gate: async () => (await import('./cli/gate.ts')).passGate,
};
