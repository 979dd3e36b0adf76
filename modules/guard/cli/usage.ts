/** `hookwright usage`: tokens and cost of the stored runs, summed by route, agent, job or day. */
import type { CliContext } from '../../../cli/base/context.ts';
import { choice, command, text, withDefault } from '../../../cli/command-line/command.ts';
import { arrayOption, configOption } from '../../../cli/command-line/options.ts';
import { readConfig } from '../../../cli/compile/compile-files.ts';
import { parseSince } from '../../../cli/deliveries/filter.ts';
import type { Column } from '../../../cli/output/table.ts';
import { printList } from '../../../cli/output/table.ts';
import { useStore } from '../../../cli/store/use-store.ts';
import { isTimeZone } from '../../../compiler/schedule/parse-schedule.ts';
import { isPlainMap } from '../../../compiler/text/plain-data.ts';
import type { Usage, UsageSum } from '../../../runtime/store/usage.ts';
import { addUsage } from '../../../runtime/store/usage.ts';

export const GROUPS = ['route', 'agent', 'job', 'day'] as const;
export type UsageGroup = (typeof GROUPS)[number];

export interface UsedBy extends Usage {
  /** Null: the sum of all profiles. */
  readonly profile: string | null;
  readonly name: string;
  readonly runs: number;
}

/** Length of a stored time slot, in ms. Days begin at a slot boundary in every time zone. */
export const SLOT_MS = 900_000;

const DEFAULT_AGENT = 'default';

/** The group name of a sum; null if it has none. */
const NAMES: Readonly<Record<UsageGroup, (sum: UsageSum, dayOf: (at: number) => string) => string | null>> = {
  route: ({ route, job }) => route ?? (job === null ? null : `job ${job}`),
  agent: ({ agent }) => agent ?? DEFAULT_AGENT,
  job: ({ job }) => job,
  day: ({ slot }, dayOf) => dayOf(slot),
};

/**
 * Sums usage by group. Days are in order; other groups are sorted by cost, or by tokens if no cost is reported, highest first.
 * @param dayOf returns the date of an instant (Unix ms)
 */
export function sumUsage(sums: readonly UsageSum[], by: UsageGroup, dayOf: (at: number) => string): readonly UsedBy[] {
  const sumByKey = new Map<string, UsedBy>();
  for (const sum of sums) {
    const name = NAMES[by](sum, dayOf);
    if (name === null) continue;
    const profile = by === 'day' ? null : sum.profile;
    const key = JSON.stringify([profile, name]);
    const before = sumByKey.get(key);
    const { input_tokens, output_tokens, cost } = before === undefined ? sum : addUsage(before, sum);
    sumByKey.set(key, { profile, name, runs: (before?.runs ?? 0) + sum.runs, input_tokens, output_tokens, cost });
  }
  const rows = [...sumByKey.values()];
  const weigh = weightBy(rows);
  return by === 'day'
    ? rows.sort((a, b) => (a.name < b.name ? -1 : 1))
    : rows.sort((a, b) => weigh(b) - weigh(a) || (a.name < b.name ? -1 : 1));
}

/** The weight by which rows are compared: cost if any row has one, otherwise tokens. */
export function weightBy(rows: readonly Usage[]): (row: Usage) => number {
  const hasCost = rows.some(({ cost }) => cost !== null);
  return ({ cost, input_tokens, output_tokens }) =>
    hasCost ? (cost ?? 0) : (input_tokens ?? 0) + (output_tokens ?? 0);
}

/** Width of the longest bar, in columns. */
const BAR = 20;

export const usageCommand = command({
  options: {
    by: withDefault('route', choice(GROUPS, 'What to sum by')),
    since: withDefault('7d', text('time', 'Only runs that ended since then: 12h or 7d ago, or a date')),
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
      empty: 'no run in this time reported its usage (see: hookwright docs agents)',
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

/** The time zone of the gateway's configuration, or else of the machine. */
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
