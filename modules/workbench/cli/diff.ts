/** `hookwright diff`: what changes in meaning between two configurations. */
import { createPaint } from '../../../base/paint.ts';
import type { CliContext } from '../../../cli/base/context.ts';
import { withTrouble } from '../../../cli/base/errors.ts';
import type { GivenBy } from '../../../cli/command-line/command.ts';
import { command, flag, list, optionalArgument, parsed } from '../../../cli/command-line/command.ts';
import { failOnOption } from '../../../cli/command-line/options.ts';
import { parseInteger } from '../../../cli/command-line/values.ts';
import { printJson, printLine, printNote } from '../../../cli/output/print.ts';
import type { RouteTable } from '../../../schemas/generated/types.ts';
import { compareTables } from './diff/compare-tables.ts';
import { formatChanges, formatRequests } from './diff/format-differences.ts';
import { openHere, openServed, openSide } from './diff/open-side.ts';
import { findStrandedWork, formatStrandedWork } from './diff/open-work.ts';
import { isFound, replayKept } from './diff/replay-requests.ts';

/** Kept requests that are compared for --fail-on, unless --requests says how many. */
const REQUESTS = 1000;

const options = {
  config: list('path|glob', 'NEW, instead of the usual search; repeatable'),
  requests: parsed(
    'count',
    `Compare what becomes of so many kept requests, too: the newest; with --fail-on ${REQUESTS} by default`,
    (text, option) => parseInteger(text, option, { min: 1, max: 1_000_000 }),
  ),
  failOn: failOnOption('Exit 1 only for kept requests that are lost, or treated otherwise'),
  json: flag('Print the changes as JSON'),
};
const args = { old: optionalArgument('old'), new: optionalArgument('new') };

type Given = GivenBy<typeof options> & GivenBy<typeof args>;

export const diffCommand = command({
  summary: 'Show what changes in meaning between two configurations',
  details:
    'Each side is a configuration, a compiled table (routes.json), or a folder that holds one. Without OLD it is what the running gateway serves, without NEW the configuration here. Layout, comments, order of keys and aliases are no difference; secrets are compared and never shown. With --requests the newest kept requests are taken through the stages of both sides, without any effect: lost is what was taken and would not be any more. Exits 0 when nothing differs, 1 when something does, 2 when a side cannot be had; with --fail-on 1 only for what it names.',
  examples: [
    ['What a reload would change', '$0 diff'],
    ['And what it would do to the requests of late', '$0 diff --requests 1000'],
    ['A gate: fail when an event would be lost', '$0 diff --requests 1000 --fail-on lost'],
    ['Between two files', '$0 diff old.yaml new.yaml'],
    ['Against what was deployed', '$0 diff deployed/routes.json hookwright.yaml --json'],
  ],
  options,
  args,
  run: (context, given) => withTrouble(() => compare(context, given)),
});

async function compare(context: CliContext, given: Given): Promise<number> {
  const { failOn } = given;
  const before = given.old === undefined ? await openServed(context) : await openSide(context, given.old);
  const now = given.new === undefined ? await openHere(context, given.config) : await openSide(context, given.new);
  // A running gateway keeps the address it was started with.
  const table = given.old === undefined ? withAddressOf(before.table, now.table) : now.table;
  const changes = compareTables(before.table, table);
  const stranded = given.old === undefined ? await findStrandedWork(context, table) : [];
  const count = given.requests ?? (failOn === undefined ? null : REQUESTS);
  const requests = count === null ? null : await replayKept(context, { old: before.table, new: table, count });
  if (given.json) printJson(context, { changes, open_work: stranded, requests });
  else {
    const paint = createPaint(context.colour.stdout);
    for (const line of formatChanges(changes, paint)) printLine(context, line);
    for (const line of formatStrandedWork(stranded, table)) printLine(context, line);
    if (requests !== null) for (const line of formatRequests(requests, paint)) printLine(context, line);
  }
  if (changes.length === 0) printNote(context, `${before.name} and ${now.name} mean the same`);
  if (requests !== null && failOn !== undefined) return isFound(requests, failOn) ? 1 : 0;
  return changes.length === 0 && (requests === null || !isFound(requests, ['changed'])) ? 0 : 1;
}

function withAddressOf({ server: { host, port } }: RouteTable, table: RouteTable): RouteTable {
  return { ...table, server: { ...table.server, host, port } };
}
