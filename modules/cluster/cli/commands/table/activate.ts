/** `hookwright table activate`: makes all gateways that take their table from the database serve this one. */
import { argument, command } from '../../../../../cli/command-line/command.ts';
import { findName } from '../../../../../cli/command-line/find-name.ts';
import { configOption } from '../../../../../cli/command-line/options.ts';
import { printLine, printNote } from '../../../../../cli/output/print.ts';
import { requireDatabase, useSharedState } from '../../../../../cli/store/use-shared-state.ts';
import { ACTIVE_TABLE } from '../../../../../runtime/store/shared.ts';
import type { SharedState } from '../../../../../runtime/store/store.ts';

export default command({
  summary: 'Have the gateways serve a table of the database',
  details:
    'Gateways that were started with `serve --table store:` swap to it within two seconds. One that cannot serve it (a secret is missing there, say) keeps the table before, and says so in `gateway status --all`.',
  examples: [
    ['Its hash, or the beginning of it', '$0 table activate 3f9a1c'],
    ['Back to one of before', '$0 table list && hookwright table activate 80b2'],
  ],
  options: { config: configOption },
  args: { hash: argument('hash') },
  async run(context, given) {
    const plan = await requireDatabase(context, given.config);
    const activated = await useSharedState(context, plan, { create: true }, (state) => activate(state, given.hash));
    if (activated === null) return 1;
    printLine(context, activated.hash);
    if (!activated.changed) printNote(context, 'it was active already');
    return 0;
  },
});

async function activate(
  { tables, documents }: SharedState,
  name: string,
): Promise<{ readonly hash: string; readonly changed: boolean }> {
  const known = (await tables.list()).map(({ hash }) => [hash, hash] as const);
  const hash = findName({ kind: 'table', name, known, listedBy: 'hookwright table list' });
  for (;;) {
    const { version, text } = await documents.read(ACTIVE_TABLE);
    if (text === hash) return { hash, changed: false };
    // Another command was faster: the last request wins.
    if (await documents.replace(ACTIVE_TABLE, version, hash)) return { hash, changed: true };
  }
}
