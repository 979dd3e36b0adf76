/** `hookwright table list`: the tables in the database, and which one is served. */
import { command } from '../../../../../cli/command-line/command.ts';
import { arrayOption, configOption } from '../../../../../cli/command-line/options.ts';
import { printJson } from '../../../../../cli/output/print.ts';
import { printTable } from '../../../../../cli/output/table.ts';
import { requireDatabase, useSharedState } from '../../../../../cli/store/use-shared-state.ts';
import type { SharedTable } from '../../../../../runtime/store/shared.ts';
import { ACTIVE_TABLE } from '../../../../../runtime/store/shared.ts';

interface Row extends SharedTable {
  readonly active: boolean;
}

export default command({
  summary: 'List the tables in the database',
  examples: [
    ['The newest first', '$0 table list'],
    ['For scripts', '$0 table list --json'],
  ],
  options: { config: configOption, json: arrayOption },
  async run(context, given) {
    const plan = await requireDatabase(context, given.config);
    const found = await useSharedState(context, plan, { create: false }, async ({ tables, documents }) => {
      const [list, active] = await Promise.all([tables.list(), documents.read(ACTIVE_TABLE)]);
      return list.map((table): Row => ({ ...table, active: table.hash === active.text }));
    });
    const rows = found ?? [];
    if (given.json) {
      printJson(
        context,
        rows.map((row) => ({ id: row.hash, name: row.hash.slice(0, 12), ...row })),
      );
      return 0;
    }
    const columns = [
      { title: 'HASH', value: ({ hash }: Row) => hash.slice(0, 12), whole: true as const },
      { title: 'ROUTES', value: ({ routes }: Row) => routes, align: 'right' as const },
      { title: 'PUSHED', value: ({ pushed_at }: Row) => pushed_at },
      { title: 'ACTIVE', value: ({ active }: Row) => (active ? 'yes' : '') },
    ];
    printTable(context, rows, columns, 'there are no tables in the database; put one there: hookwright table push');
    return 0;
  },
});
