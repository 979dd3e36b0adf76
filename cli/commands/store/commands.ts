/** The commands of `hookwright store`. */
import type { CommandGroup } from '../../command-line/command-entry.ts';

export const STORE: CommandGroup = {
  noun: 'store',
  title: 'The database that gateways share',
  commands: [
    {
      path: 'store migrate',
      summary: 'Create the tables on PostgreSQL, or bring them to this version',
      load: async () => (await import('./migrate.ts')).StoreMigrateCommand,
    },
  ],
};
