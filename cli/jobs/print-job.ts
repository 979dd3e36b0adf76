/** The output after a job was created or changed: what it is, and when it runs. */
import { labelIn } from '../../base/label.ts';
import { describeSchedule } from '../../compiler/schedule/describe-schedule.ts';
import { nextRuns } from '../../compiler/schedule/next-runs.ts';
import type { CliContext } from '../base/context.ts';
import { printJson, printLine, printNote, visible } from '../output/print.ts';
import { formatInstant } from '../output/time.ts';
import type { OpenTable } from '../subscriptions/open-table.ts';
import type { SavedJob } from './draft-job.ts';

interface MadeJob extends SavedJob {
  /** `created`, `changed`. */
  readonly verb: string;
  readonly open: Pick<OpenTable, 'table' | 'url'>;
}

export function printMade(context: CliContext, { record, warnings, verb, open }: MadeJob, json: boolean): void {
  for (const warning of warnings) printNote(context, `warning: ${visible(warning)}`);
  const { deliver, ...rest } = record;
  const { id, name, schedule, timezone } = rest;
  const next = nextRuns({ schedule, timezone, from: context.clock.now(), count: 1 })[0] ?? null;
  if (json) {
    const next_run = next === null ? null : new Date(next).toISOString();
    printJson(context, {
      ...rest,
      deliver: deliver.map(({ target }) => labelIn(open.table.targets, target)),
      next_run,
    });
    return;
  }
  printLine(context, `job ${name} (${id}) ${verb}`);
  printLine(
    context,
    `runs ${describeSchedule(schedule)} in ${timezone}; next: ${next === null ? 'never' : formatInstant(next, timezone)}`,
  );
  noteUnserved(context, open, 'fires');
}

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
