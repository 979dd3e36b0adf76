/** `hookwright usage`: tokens and cost of the runs that are stored, summed by route, agent, job or day. */

import type { CliContext } from '../../../../cli/base/context.ts';
import { choice, command, text, withDefault } from '../../../../cli/command-line/command.ts';
import { arrayOption, configOption } from '../../../../cli/command-line/options.ts';
import { readConfig } from '../../../../cli/compile/read-config.ts';
import { parseSince } from '../../../../cli/deliveries/filter.ts';
import type { Column } from '../../../../cli/output/table.ts';
import { printList } from '../../../../cli/output/table.ts';
import { useStore } from '../../../../cli/store/use-store.ts';
import { isTimeZone } from '../../../../compiler/schedule/time-zone.ts';
import { isPlainMap } from '../../../../compiler/text/plain-map.ts';
import type { UsedBy } from '../sum-usage.ts';
import { GROUPS, SLOT_MS, sumUsage, weightBy } from '../sum-usage.ts';

/** Columns of the longest bar. */
const BAR = 20;

export default command({
  summary: 'Show how many tokens runs have used, and what they cost',
  details:
    'Counts the runs whose agent has told its usage (hookwright docs agents), as far back as they are stored (`gateway.retention_days`). Cost is in the unit in which the agent told it. Days are those of `gateway.timezone`.',
  examples: [
    ['The routes of the last week', '$0 usage'],
    ['Day by day for a month', '$0 usage --by day --since 30d'],
    ['Each agent, for a program', '$0 usage --by agent --json'],
  ],
  options: {
    by: withDefault('route', choice(GROUPS, 'What to sum by')),
    since: withDefault('7d', text('time', 'Runs that ended since: 12h, 7d, or a date')),
    config: configOption,
    json: arrayOption,
  },
  async run(context, { by, since: given, config, json }) {
    const since = Math.max(0, parseSince(given, context.clock.now()));
    const read = { kind: 'usage', since, slot_ms: SLOT_MS } as const;
    const sums = (await useStore(context, (store) => store.read(read), config)) ?? [];
    const rows = sumUsage(sums, by, dayIn(zoneOf(context, config)));
    printList(context, rows, {
      json,
      toJson: ({ profile, name, ...rest }) => ({ [by]: name, ...(profile === null ? {} : { profile }), ...rest }),
      columns: columns(by, rows, context.stdout.isTTY === true),
      empty: 'no run of that time has told what it used (hookwright docs agents)',
    });
  },
});

function columns(by: string, rows: readonly UsedBy[], hasBars: boolean): readonly Column<UsedBy>[] {
  const amount = (value: number | null): string => (value === null ? '' : String(Math.round(value * 1e4) / 1e4));
  const weigh = weightBy(rows);
  const most = Math.max(...rows.map(weigh));
  const bar = (row: UsedBy): string =>
    weigh(row) === 0 ? '' : '█'.repeat(Math.max(1, Math.round((weigh(row) / most) * BAR)));
  return [
    { title: by.toUpperCase(), value: ({ name }) => name, whole: true },
    { title: 'PROFILE', value: ({ profile }) => profile ?? '', usual: 'default' },
    { title: 'RUNS', value: ({ runs }) => runs, align: 'right' },
    { title: 'INPUT', value: ({ input_tokens }) => amount(input_tokens), align: 'right' },
    { title: 'OUTPUT', value: ({ output_tokens }) => amount(output_tokens), align: 'right' },
    { title: 'COST', value: ({ cost }) => amount(cost), align: 'right' },
    ...(hasBars ? [{ title: '', value: bar }] : []),
  ];
}

/** The zone of the gateway, by its configuration; that of the machine where none is given. */
function zoneOf(context: CliContext, configs: readonly string[] | undefined): string {
  const gateway = readConfig(context, configs ?? context.configs ?? []).tree?.value.gateway;
  const zone = isPlainMap(gateway) ? gateway.timezone : undefined;
  return typeof zone === 'string' && isTimeZone(zone) ? zone : context.timezone;
}

/** `2026-11-25` */
function dayIn(timeZone: string): (at: number) => string {
  const format = new Intl.DateTimeFormat('en-CA', { timeZone, year: 'numeric', month: '2-digit', day: '2-digit' });
  return (at) => format.format(at);
}
