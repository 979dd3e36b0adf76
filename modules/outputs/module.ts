/** What an agent may change: outputs that its route allows one by one, and that the gateway delivers. */
import type { CliContext } from '../../cli/base/context.ts';
import type { Module } from '../../cli/base/module.ts';

export const outputs: Module<CliContext> = {
  name: 'outputs',
  summary: 'What an agent may change: outputs that its route allows one by one, and that the gateway delivers.',
  commands: [],
  compiler: async () => (await import('./compiler/part.ts')).outputsCompiler,
  runtime: {
    store: null,
    keeper: null,
    budgets: null,
    marks: null,
    sandbox: null,
    guard: null,
    outputs: async () => (await import('./runtime/open-handover.ts')).openHandover,
    console: null,
    tracing: null,
  },
  database: null,
  payloads: null,
  names: null,
  explain: null,
  kept: null,
  gate: null,
};
