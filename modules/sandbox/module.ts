/** What an agent and a script can reach: files, hosts, secrets. */
import type { CliContext } from '../../cli/base/context.ts';
import type { Module } from '../../cli/base/module.ts';

export const sandbox: Module<CliContext> = {
  name: 'sandbox',
  summary: 'What an agent and a script can reach: files, hosts, secrets.',
  commands: [],
  compiler: null,
  runtime: {
    store: null,
    keeper: null,
    budgets: null,
    marks: null,
    tracing: null,
    outputs: null,
    sandbox: async () => (await import('./runtime/sandbox.ts')).openSandbox,
  },
  database: null,
  payloads: null,
  names: null,
  explain: null,
  gate: null,
};
