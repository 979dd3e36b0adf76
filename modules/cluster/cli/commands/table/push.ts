/** `hookwright table push`: puts a compiled table into the database, for gateways to take from there. */
import { resolve } from 'node:path';
import { CliError } from '../../../../../cli/base/errors.ts';
import type { PostgresPlan } from '../../../../../cli/base/module.ts';
import { command, text } from '../../../../../cli/command-line/command.ts';
import { configOption, jsonOption } from '../../../../../cli/command-line/options.ts';
import { printJson, printLine, printNote } from '../../../../../cli/output/print.ts';
import { builtFolder } from '../../../../../cli/serve/built-folder.ts';
import { requireDatabase, useSharedState } from '../../../../../cli/store/use-shared-state.ts';
import { readBuiltTable } from '../../tables/read-built-table.ts';
import { signingKey, signWithOption } from '../../tables/signing-key.ts';

export default command({
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
