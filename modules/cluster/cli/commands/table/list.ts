/** `hookwright table list`: the tables in the database, and which one is served. */
import { command } from '../../../../../cli/command-line/command.ts';
import { arrayOption, configOption } from '../../../../../cli/command-line/options.ts';
import { printNote, visible } from '../../../../../cli/output/print.ts';
import { printList } from '../../../../../cli/output/table.ts';
import { requireDatabase, useSharedState } from '../../../../../cli/store/use-shared-state.ts';
import { ACTIVE_TABLE } from '../../../../../runtime/store/shared.ts';
import { readToReplace } from '../../read-to-replace.ts';

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
      const [list, active] = await Promise.all([tables.list(), readToReplace(documents, ACTIVE_TABLE)]);
      if (active.refused !== null) printNote(context, visible(active.refused.message));
      return list.map((table) => ({ ...table, active: table.hash === active.text }));
    });
    printList(context, found ?? [], {
      json: given.json,
      toJson: (row) => ({ id: row.hash, name: row.hash.slice(0, 12), ...row }),
      columns: [
        { title: 'HASH', value: ({ hash }) => hash.slice(0, 12), whole: true },
        { title: 'ROUTES', value: ({ routes }) => routes, align: 'right' },
        { title: 'PUSHED', value: ({ pushed_at }) => pushed_at },
        { title: 'ACTIVE', value: ({ active }) => (active ? 'yes' : '') },
      ],
      empty: 'there are no tables in the database; put one there: hookwright table push',
    });
  },
});
