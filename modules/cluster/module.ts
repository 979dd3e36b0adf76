/** Several gateways that share work in one PostgreSQL database, and the commands to move a store there. */
import type { CliContext } from '../../cli/base/context.ts';
import type { Module } from '../../cli/base/module.ts';
import { COMMAND_FILES } from './cli/built/command-files.ts';

export const cluster: Module<CliContext> = {
  name: 'cluster',
  commands: COMMAND_FILES,
  runtime: {
    store: async () => (await import('./runtime/open-shared.ts')).openSharedStore,
  },
  database: async () => (await import('./cli/database-tools.ts')).databaseTools,
};
