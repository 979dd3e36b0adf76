/** `hookwright store move`: moves the stored data of a home into the PostgreSQL database of its configuration. */
import type { CliContext } from '../../../../../cli/base/context.ts';
import { command, flag, needed, parsed, text } from '../../../../../cli/command-line/command.ts';
import { configOption, databaseOption, jsonOption } from '../../../../../cli/command-line/options.ts';
import { parseChoice } from '../../../../../cli/command-line/values.ts';
import { printJson, printLine, printNote } from '../../../../../cli/output/print.ts';
import { formatTable } from '../../../../../cli/output/table.ts';
import { findDatabase } from '../../database/find-database.ts';
import type { StoreMove } from '../../database/move-store.ts';
import { moveStore } from '../../database/move-store.ts';

export default command({
  summary: 'Move what this machine has stored into PostgreSQL',
  details:
    'For a gateway that is to share its work with others, while none serves. Everything moves in one transaction, or nothing does; counts are compared before it is committed. The file is kept, under another name.',
  examples: [
    ['What would be moved, and whether it can be', '$0 store move --from sqlite --to postgres --dry-run'],
    ['Into the database of the configuration', '$0 store move --from sqlite --to postgres'],
  ],
  options: {
    from: needed(parsed('sqlite', 'The engine that has it', (text, option) => parseChoice(text, option, ['sqlite']))),
    to: needed(
      parsed('postgres', 'The engine that is to have it', (text, option) => parseChoice(text, option, ['postgres'])),
    ),
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

function print(context: CliContext, { count, outcome, file, requests_file }: StoreMove, schema: string): void {
  const rows = Object.entries(count).map(([kind, found]) => ({ kind: KINDS[kind as keyof typeof count], found }));
  const lines = formatTable(rows, [
    { title: 'WHAT', value: ({ kind }) => kind },
    { title: 'COUNT', value: ({ found }) => found, align: 'right' },
  ]);
  for (const line of lines) printLine(context, line);
  printNote(context, `${SAID[outcome]} schema ${schema}`);
  if (outcome === 'dry run') return;
  printNote(context, `the file is kept as ${file}`);
  if (requests_file !== null) printNote(context, `that of the kept requests as ${requests_file}`);
}

const KINDS: Readonly<Record<keyof StoreMove['count'], string>> = {
  dispatches: 'dispatches',
  deliveries: 'open deliveries',
  answers: 'answers',
  steps: 'attempts',
  claims: 'delivery ids',
  jobs: 'jobs',
  job_ticks: 'instants of jobs',
  sessions: 'sessions',
  requests: 'kept requests',
};

const SAID: Readonly<Record<StoreMove['outcome'], string>> = {
  moved: 'moved to PostgreSQL,',
  already: 'was moved before to PostgreSQL,',
  'dry run': 'nothing moved yet; it can be, to PostgreSQL,',
};
