/** Says which gateway acts on a stored change when none serves this home. */
import type { CliContext } from '../base/context.ts';
import { printNote } from '../output/print.ts';
import type { OpenTable } from '../subscriptions/open-table.ts';

/** Prints nothing where one does. @param verb what will be done with it: `runs`, `fires` */
export function noteUnserved(
  context: CliContext,
  { table, url }: Pick<OpenTable, 'table' | 'url'>,
  verb: string,
): void {
  if (url !== null) return;
  printNote(
    context,
    table.gateway.store.kind === 'postgres'
      ? `no gateway is running here: it ${verb} on one that shares the database`
      : `no gateway is running: it ${verb} once one is started (hookwright gateway start)`,
  );
}
