/** `hookwright diff`: what changes in meaning between two configurations. */
import { Command, Option } from 'clipanion';
import { createPaint } from '../../../../base/paint.ts';
import type { CliContext } from '../../../../cli/base/context.ts';
import { withTrouble } from '../../../../cli/base/errors.ts';
import { failOnOption } from '../../../../cli/command-line/options.ts';
import { parsedBy, parseInteger } from '../../../../cli/command-line/values.ts';
import { printJson, printLine, printNote } from '../../../../cli/output/print.ts';
import type { RouteTable } from '../../../../schemas/generated/types.ts';
import { compareTables } from '../diff/compare-tables.ts';
import { formatChanges, formatRequests } from '../diff/format-differences.ts';
import { openHere, openServed, openSide } from '../diff/open-side.ts';
import { findStrandedWork, formatStrandedWork } from '../diff/open-work.ts';
import { isFound, replayKept } from '../diff/replay-requests.ts';

export class DiffCommand extends Command<CliContext> {
  static override paths = [['diff']];
  static override usage = Command.Usage({
    description: 'Show what changes in meaning between two configurations',
    details:
      'Each side is a configuration, a compiled table (routes.json), or a folder that holds one. Without OLD it is what the running gateway serves, without NEW the configuration here. Layout, comments, order of keys and aliases are no difference; secrets are compared and never shown. With --requests the newest kept requests are taken through the stages of both sides, without any effect: lost is what was taken and would not be any more. Exits 0 when nothing differs, 1 when something does, 2 when a side cannot be had; with --fail-on 1 only for what it names.',
    examples: [
      ['What a reload would change', '$0 diff'],
      ['And what it would do to the requests of late', '$0 diff --requests 1000'],
      ['A gate: fail when an event would be lost', '$0 diff --requests 1000 --fail-on lost'],
      ['Between two files', '$0 diff old.yaml new.yaml'],
      ['Against what was deployed', '$0 diff deployed/routes.json hookwright.yaml --json'],
    ],
  });

  old = Option.String({ required: false, name: 'old' });
  new = Option.String({ required: false, name: 'new' });
  config = Option.Array('--config', { description: '<path|glob> NEW, instead of the usual search; repeatable' });
  requests = Option.String('--requests', {
    description: `<count> Compare what becomes of so many kept requests, too: the newest; with --fail-on ${REQUESTS} by default`,
    validator: parsedBy('--requests', (text, option) => parseInteger(text, option, { min: 1, max: 1_000_000 })),
  });
  failOn = failOnOption('Exit 1 only for kept requests that are lost, or treated otherwise');
  json = Option.Boolean('--json', false, { description: 'Print the changes as JSON' });

  async execute(): Promise<number> {
    return withTrouble(() => this.compare());
  }

  private async compare(): Promise<number> {
    const { context, failOn } = this;
    const before = this.old === undefined ? await openServed(context) : await openSide(context, this.old);
    const now = this.new === undefined ? await openHere(context, this.config) : await openSide(context, this.new);
    // A running gateway keeps the address it was started with.
    const table = this.old === undefined ? withAddressOf(before.table, now.table) : now.table;
    const changes = compareTables(before.table, table);
    const stranded = this.old === undefined ? await findStrandedWork(context, table) : [];
    const count = this.requests ?? (failOn === undefined ? null : REQUESTS);
    const requests = count === null ? null : await replayKept(context, { old: before.table, new: table, count });
    if (this.json) printJson(context, { changes, open_work: stranded, requests });
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
}

/** Kept requests that are compared for --fail-on, unless --requests says how many. */
const REQUESTS = 1000;

function withAddressOf({ server: { host, port } }: RouteTable, table: RouteTable): RouteTable {
  return { ...table, server: { ...table.server, host, port } };
}
