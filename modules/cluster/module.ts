/** Several gateways over one PostgreSQL: shared work, tables that travel through the database, moving a store. */
import type { CliContext } from '../../cli/base/context.ts';
import type { Module } from '../../cli/base/module.ts';
import { COMMAND_FILES } from './cli/commands/built/command-files.ts';

export const cluster: Module<CliContext> = {
  name: 'cluster',
  summary:
    'Several gateways over one PostgreSQL: shared work, tables that travel through the database, moving a store.',
  commands: COMMAND_FILES,
  runtime: {
    store: async () => (await import('./runtime/open-shared.ts')).openSharedStore,
  },
  database: async () => (await import('./cli/database-tools.ts')).databaseTools,
};
