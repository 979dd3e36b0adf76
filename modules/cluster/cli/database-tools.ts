/** What the commands of the core ask of the database that gateways share. */
import type { CliContext } from '../../../cli/base/context.ts';
import type { DatabaseTools } from '../../../cli/base/module.ts';
import { checkDatabase } from './check-database.ts';
import { showNodes } from './nodes.ts';
import { openClientDatabase } from './open-database.ts';
import { refreshSubscriptions, useSubscriptions } from './shared-copy.ts';

export const databaseTools: DatabaseTools<CliContext> = {
  open: openClientDatabase,
  refreshSubscriptions,
  useSubscriptions,
  showNodes,
  check: checkDatabase,
};
