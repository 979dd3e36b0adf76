/** `hookwright diff`: what changes in meaning between two configurations. */
import { Command, Option } from 'clipanion';
import type { RouteTable } from '../../schemas/generated/types.ts';
import { createPaint } from '../base/colour.ts';
import type { CliContext } from '../base/context.ts';
import { withTrouble } from '../base/errors.ts';
import { compareTables } from '../diff/compare-tables.ts';
import { formatChanges } from '../diff/format-changes.ts';
import { openHere, openServed, openSide } from '../diff/open-side.ts';
import { findStrandedWork, formatStrandedWork } from '../diff/open-work.ts';
import { printJson, printLine, printNote } from '../output/print.ts';

export class DiffCommand extends Command<CliContext> {
  static override paths = [['diff']];
  static override usage = Command.Usage({
    description: 'Show what changes in meaning between two configurations',
    details:
      'Each side is a configuration, a compiled table (routes.json), or a folder that holds one. Without OLD it is what the running gateway serves, without NEW the configuration here. Layout, comments, order of keys and aliases are no difference; secrets are compared and never shown. Exits 0 when nothing differs, 1 when something does, 2 when a side cannot be had.',
    examples: [
      ['What a reload would change', '$0 diff'],
      ['Between two files', '$0 diff old.yaml new.yaml'],
      ['Against what was deployed', '$0 diff deployed/routes.json hookwright.yaml --json'],
    ],
  });

  old = Option.String({ required: false, name: 'old' });
  new = Option.String({ required: false, name: 'new' });
  config = Option.Array('--config', { description: '<path|glob> NEW, instead of the usual search; repeatable' });
  json = Option.Boolean('--json', false, { description: 'Print the changes as JSON' });

  async execute(): Promise<number> {
    return withTrouble(() => this.compare());
  }

  private async compare(): Promise<number> {
    const { context } = this;
    const before = this.old === undefined ? await openServed(context) : await openSide(context, this.old);
    const now = this.new === undefined ? await openHere(context, this.config) : await openSide(context, this.new);
    // A running gateway keeps the address it was started with.
    const table = this.old === undefined ? withAddressOf(before.table, now.table) : now.table;
    const changes = compareTables(before.table, table);
    const stranded = this.old === undefined ? await findStrandedWork(context, table) : [];
    if (this.json) printJson(context, { changes, open_work: stranded });
    else {
      for (const line of formatChanges(changes, createPaint(context.colour.stdout))) printLine(context, line);
      for (const line of formatStrandedWork(stranded, table)) printLine(context, line);
    }
    if (changes.length === 0) printNote(context, `${before.name} and ${now.name} mean the same`);
    return changes.length === 0 ? 0 : 1;
  }
}

function withAddressOf({ server: { host, port } }: RouteTable, table: RouteTable): RouteTable {
  return { ...table, server: { ...table.server, host, port } };
}
