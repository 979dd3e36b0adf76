/** `hookwright store move`: moves the jobs, delivery ids and sessions of a home into the PostgreSQL database of its configuration. */
import type { CliContext } from '../../../../../cli/base/context.ts';
import { choice, command, flag, needed, text } from '../../../../../cli/command-line/command.ts';
import { configOption, databaseOption, jsonOption } from '../../../../../cli/command-line/options.ts';
import { printJson, printLine, printNote } from '../../../../../cli/output/print.ts';
import { formatTable } from '../../../../../cli/output/table.ts';
import { findDatabase } from '../../database/find-database.ts';
import type { StoreMove } from '../../database/move-store.ts';
import { moveStore } from '../../database/move-store.ts';

export default command({
  summary: 'Move what this machine has stored into PostgreSQL',
  details:
    'For a gateway that is to share its work with others, while none serves and all its work is finished. Jobs, delivery ids and sessions move in one transaction, or nothing does; counts are compared before it is committed. The history of dispatches stays in the file, which is kept under another name.',
  examples: [
    ['What would be moved, and whether it can be', '$0 store move --from sqlite --to postgres --dry-run'],
    ['Into the database of the configuration', '$0 store move --from sqlite --to postgres'],
  ],
  options: {
    from: needed(choice(['sqlite'], 'The engine that has it')),
    to: needed(choice(['postgres'], 'The engine that is to have it')),
    dryRun: flag('Show what would be moved, and move nothing'),
    database: databaseOption,
    schema: text('name', 'Schema of the tables instead of the configured one'),
    config: configOption,
    json: jsonOption,
  },
  async run(context, given) {
    const database = await findDatabase(context, given);
    const move = await moveStore(context, database, given.dryRun);
    if (given.json) printJson(context, { ...move, schema: database.schema });
    else print(context, move, database.schema);
  },
});

function print(context: CliContext, { count, outcome, file }: StoreMove, schema: string): void {
  const rows = [
    ['delivery ids', count.claims],
    ['jobs', count.jobs],
    ['sessions', count.sessions],
  ] as const;
  const lines = formatTable(rows, [
    { title: 'WHAT', value: ([kind]) => kind },
    { title: 'COUNT', value: ([, found]) => found, align: 'right' },
  ]);
  for (const line of lines) printLine(context, line);
  printNote(context, `${SAID[outcome]} schema ${schema}`);
  if (outcome !== 'dry run') printNote(context, `the file is kept as ${file}`);
}

const SAID: Readonly<Record<StoreMove['outcome'], string>> = {
  moved: 'moved to PostgreSQL,',
  already: 'was moved before to PostgreSQL,',
  'dry run': 'nothing moved yet; it can be, to PostgreSQL,',
};
