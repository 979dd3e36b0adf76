/** What an agent and a script can reach: files, hosts, secrets. */
import type { CliContext } from '../../cli/base/context.ts';
import type { Module } from '../../cli/base/module.ts';
import { COMMAND_FILES } from './cli/commands/built/command-files.ts';

export const sandbox: Module<CliContext> = {
  name: 'sandbox',
  summary: 'What an agent and a script can reach: files, hosts, secrets.',
  commands: COMMAND_FILES,
  compiler: null,
  operations: null,
  runtime: {
    store: null,
    keeper: null,
    budgets: null,
    marks: null,
    guard: null,
    console: null,
    tracing: null,
    outputs: null,
    approvals: null,
    sandbox: async () => (await import('./runtime/sandbox.ts')).openSandbox,
  },
  database: null,
  payloads: null,
  names: null,
  explain: null,
  kept: null,
  gate: null,
};
