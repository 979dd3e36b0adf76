/** `hookwright store migrate`: creates or migrates the tables on PostgreSQL, as the role that owns them. */
import { command, text } from '../../../../../cli/command-line/command.ts';
import { configOption, databaseOption, jsonOption } from '../../../../../cli/command-line/options.ts';
import { printJson, printLine } from '../../../../../cli/output/print.ts';
import { findDatabase, withDatabase } from '../../database/find-database.ts';

export default command({
  summary: 'Create the tables on PostgreSQL, or bring them to this version',
  details:
    'A gateway does the same when it starts, where its role may. With a role that only runs, this is done first, by the role that owns the tables. Gateways of the version before go on.',
  examples: [
    ['In the database of the configuration', '$0 store migrate'],
    ['As the role that owns the tables', '$0 store migrate --database env:OWNER_URL'],
  ],
  options: {
    database: databaseOption,
    schema: text('name', 'Schema of the tables instead of the configured one'),
    config: configOption,
    json: jsonOption,
  },
  async run(context, given) {
    const database = await findDatabase(context, given);
    const { migrate } = await import('../../../runtime/postgres/migrate.ts');
    const { from, to } = await withDatabase(database, (db) => migrate(db, database.schema));
    if (given.json) printJson(context, { schema: database.schema, from, to });
    else printLine(context, `schema ${database.schema}: ${describe(from, to)}`);
  },
});

function describe(from: number, to: number): string {
  if (from === to) return `version ${to} already`;
  return from === 0 ? `created, version ${to}` : `migrated from version ${from} to ${to}`;
}
