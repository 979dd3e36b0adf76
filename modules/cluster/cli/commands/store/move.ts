/** `hookwright store move`: moves the jobs, delivery ids and sessions of a home into the PostgreSQL database of its configuration. */
import { Command, Option } from 'clipanion';
import type { CliContext } from '../../../../../cli/base/context.ts';
import { configOption, databaseOption, jsonOption } from '../../../../../cli/command-line/options.ts';
import { parseChoice, parsedBy } from '../../../../../cli/command-line/values.ts';
import { printJson, printLine, printNote } from '../../../../../cli/output/print.ts';
import { formatTable } from '../../../../../cli/output/table.ts';
import { findDatabase } from '../../database/find-database.ts';
import type { StoreMove } from '../../database/move-store.ts';
import { moveStore } from '../../database/move-store.ts';

export class StoreMoveCommand extends Command<CliContext> {
  static override paths = [['store', 'move']];
  static override usage = Command.Usage({
    description: 'Move what this machine has stored into PostgreSQL',
    details:
      'For a gateway that is to share its work with others, while none serves and all its work is finished. Jobs, delivery ids and sessions move in one transaction, or nothing does; counts are compared before it is committed. The history of dispatches stays in the file, which is kept under another name.',
    examples: [
      ['What would be moved, and whether it can be', '$0 store move --from sqlite --to postgres --dry-run'],
      ['Into the database of the configuration', '$0 store move --from sqlite --to postgres'],
    ],
  });

  from = Option.String('--from', {
    ...{ required: true, description: '<sqlite> The engine that has it' },
    validator: parsedBy('--from', (text, option) => parseChoice(text, option, ['sqlite'])),
  });
  to = Option.String('--to', {
    ...{ required: true, description: '<postgres> The engine that is to have it' },
    validator: parsedBy('--to', (text, option) => parseChoice(text, option, ['postgres'])),
  });
  dryRun = Option.Boolean('--dry-run', false, { description: 'Show what would be moved, and move nothing' });
  database = databaseOption();
  schema = Option.String('--schema', { description: '<name> Schema of the tables instead of the configured one' });
  config = configOption();
  json = jsonOption();

  async execute(): Promise<number> {
    const { context } = this;
    const database = await findDatabase(context, this);
    const move = await moveStore(context, database, this.dryRun);
    if (this.json) printJson(context, { ...move, schema: database.schema });
    else this.print(move, database.schema);
    return 0;
  }

  private print({ count, outcome, file }: StoreMove, schema: string): void {
    const rows = [
      ['delivery ids', count.claims],
      ['jobs', count.jobs],
      ['sessions', count.sessions],
    ] as const;
    const lines = formatTable(rows, [
      { title: 'WHAT', value: ([kind]) => kind },
      { title: 'COUNT', value: ([, found]) => found, align: 'right' },
    ]);
    for (const line of lines) printLine(this.context, line);
    printNote(this.context, `${SAID[outcome]} schema ${schema}`);
    if (outcome !== 'dry run') printNote(this.context, `the file is kept as ${file}`);
  }
}

const SAID: Readonly<Record<StoreMove['outcome'], string>> = {
  moved: 'moved to PostgreSQL,',
  already: 'was moved before to PostgreSQL,',
  'dry run': 'nothing moved yet; it can be, to PostgreSQL,',
};
