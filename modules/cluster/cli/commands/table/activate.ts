/** `hookwright table activate`: makes all gateways that take their table from the database serve this one. */
import { argument, command } from '../../../../../cli/command-line/command.ts';
import { findName } from '../../../../../cli/command-line/find-name.ts';
import { configOption } from '../../../../../cli/command-line/options.ts';
import { printLine, printNote } from '../../../../../cli/output/print.ts';
import { requireDatabase, useSharedState } from '../../../../../cli/store/use-shared-state.ts';
import { ACTIVE_TABLE } from '../../../../../runtime/store/shared.ts';
import type { SharedState } from '../../../../../runtime/store/store.ts';
import { readToReplace } from '../../read-to-replace.ts';
import { signingKey, signWithOption } from '../../tables/signing-key.ts';

export default command({
  summary: 'Have the gateways serve a table of the database',
  details:
    'Gateways that were started with `serve --table store:` swap to it within two seconds. One that cannot serve it (a secret is missing there, say) keeps the table before, and says so in `gateway status --all`. A table whose signature is not right is refused. Where only gateway.store.table_key is set, an older table is signed anew: --sign-with.',
  examples: [
    ['Its hash, or the beginning of it', '$0 table activate 3f9a1c'],
    ['Back to one of before', '$0 table list && hookwright table activate 80b2'],
  ],
  options: { signWith: signWithOption, config: configOption },
  args: { hash: argument('hash') },
  async run(context, given) {
    const plan = await requireDatabase(context, given.config);
    const privateKey = signingKey(context, given.signWith);
    const activated = await useSharedState(context, plan, { create: true }, (state) =>
      activate(state, given.hash, privateKey),
    );
    if (activated === null) return 1;
    printLine(context, activated.hash);
    if (!activated.changed) printNote(context, 'it was active already');
    return 0;
  },
});

async function activate(
  { tables, documents }: SharedState,
  name: string,
  privateKey: string | null,
): Promise<{ readonly hash: string; readonly changed: boolean }> {
  const list = await tables.list();
  const known = list.map((table) => [table.hash, table] as const);
  const table = findName({ kind: 'table', name, known, listedBy: 'hookwright table list' });
  const { hash } = table;
  const files = await tables.load(hash, privateKey === null ? 'serve' : 'sign');
  if (privateKey !== null && files !== null) await tables.push(table, files, privateKey);
  for (;;) {
    const { version, text } = await readToReplace(documents, ACTIVE_TABLE);
    // Also one that is active already, with a new version: gateways that have seen a newer one refuse this one.
    // Where another command was faster, the last request wins.
    if (await documents.replace(ACTIVE_TABLE, version, hash)) return { hash, changed: text !== hash };
  }
}
