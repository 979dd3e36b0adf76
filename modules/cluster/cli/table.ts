/** `hookwright table`: tables that travel through the database. */
import { resolve } from 'node:path';
import { CliError } from '../../../cli/base/errors.ts';
import { findName } from '../../../cli/base/find-name.ts';
import type { PostgresPlan } from '../../../cli/base/module.ts';
import { argument, command, text } from '../../../cli/command-line/command.ts';
import { arrayOption, configOption, jsonOption } from '../../../cli/command-line/options.ts';
import { printJson, printLine, printNote, visible } from '../../../cli/output/print.ts';
import { printList } from '../../../cli/output/table.ts';
import { builtFolder } from '../../../cli/serve/built-folder.ts';
import { requireDatabase, useSharedState } from '../../../cli/store/use-store.ts';
import { ACTIVE_TABLE } from '../../../runtime/store/shared.ts';
import type { SharedState } from '../../../runtime/store/store.ts';
import { readToReplace } from './read-to-replace.ts';
import { readBuiltTable } from './tables/read-built-table.ts';
import { signingKey, signWithOption } from './tables/signing-key.ts';

/** `hookwright table push`: puts a compiled table into the database, for gateways to take from there. */
export const tablePushCommand = command({
  summary: 'Put a compiled table into the database',
  details:
    'Gateways that were started with `serve --table store:` serve it once it is activated. Prints its hash. It is signed with gateway.store.key, or with a private key whose public half the gateways have as gateway.store.table_key. A table that holds a secret is refused: references are resolved on the machine that serves. The newest 20 are kept.',
  examples: [
    ['What `compile` wrote here', '$0 table push'],
    ['What CI has built', '$0 table push --table dist/tables'],
    ['Signed by CI', '$0 table push --sign-with env:TABLE_SIGNING_KEY'],
  ],
  options: {
    table: text('dir', 'Folder of routes.json'),
    signWith: signWithOption,
    config: configOption,
    json: jsonOption,
  },
  async run(context, given) {
    const folder = given.table === undefined ? builtFolder(context) : resolve(context.cwd, given.table);
    const { hash, routes, files, isKeyed } = await readBuiltTable(folder);
    const plan = await requireDatabase(context, given.config);
    refuseOtherKeys(plan, isKeyed);
    const privateKey = signingKey(context, given.signWith);
    const pushed = await useSharedState(context, plan, { create: true }, ({ tables }) =>
      tables.push({ hash, routes }, files, privateKey),
    );
    if (given.json) printJson(context, { hash, routes, created: pushed === true });
    else printLine(context, hash);
    if (pushed === false) printNote(context, 'it was there already');
    else if (!given.json) printNote(context, `serve it: hookwright table activate ${hash.slice(0, 12)}`);
  },
});

/** A gateway takes its settings from the table that it serves. */
function refuseOtherKeys({ key }: PostgresPlan, isKeyed: boolean): void {
  if ((key !== null) === isKeyed) return;
  const [has, lacks] = isKeyed ? ['table', 'configuration'] : ['configuration', 'table'];
  throw new CliError(
    `the ${has} sets gateway.store.key and the ${lacks} does not: its gateways would not check what is in the database`,
    'set it, and compile again: hookwright compile',
  );
}

/** `hookwright table list`: the tables in the database, and which one is served. */
export const tableListCommand = command({
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

/** `hookwright table activate`: makes all gateways that take their table from the database serve this one. */
export const tableActivateCommand = command({
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
