/** Several gateways over one PostgreSQL: shared work, tables that travel through the database, moving a store. */
import type { CliContext } from '../../cli/base/context.ts';
import type { Module } from '../../cli/base/module.ts';
import { COMMAND_FILES } from './cli/commands/built/command-files.ts';

export const cluster: Module<CliContext> = {
  name: 'cluster',
  summary:
    'Several gateways over one PostgreSQL: shared work, tables that travel through the database, moving a store.',
  commands: COMMAND_FILES,
  compiler: null,
  operations: null,
  runtime: {
    store: { kind: 'postgres', load: async () => (await import('./runtime/open-shared.ts')).openSharedStore },
    keeper: null,
    budgets: null,
    marks: null,
    guard: null,
    console: null,
    tracing: null,
    sandbox: null,
    outputs: null,
    approvals: null,
  },
  database: async () => (await import('./cli/database-tools.ts')).databaseTools,
  payloads: null,
  names: null,
  explain: null,
  kept: null,
  gate: null,
};
