/**
 * Simulates a year for jobs in zones with every kind of clock change, and compares the firings with local wall-clock
 * times.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Ref } from '../../../../runtime/store/records.ts';
import { FakeClock } from '../../../helpers/fake-clock.ts';
import type { SchedulerBench } from '../../../helpers/scheduler.ts';
import { begin, jobPlan, jobTable, schedulerBench } from '../../../helpers/scheduler.ts';
import type { ZoneRules } from '../../../helpers/zone-rules.ts';
import { zoneRules } from '../../../helpers/zone-rules.ts';

/** `HOOKWRIGHT_LONG_TESTS=1` adds zones, and a second year. */
const IS_LONG = process.env.HOOKWRIGHT_LONG_TESTS === '1';
/** Both changes of every zone and the turn of a year. */
const FROM = Date.parse('2025-07-01T00:00:00Z');
const TO = Date.parse(IS_LONG ? '2027-07-01T00:00:00Z' : '2026-07-01T00:00:00Z');
const MINUTE = 60_000;
const DAY = 86_400_000;
const MONTH = 30 * DAY;

/** An hour in the north, half an hour in the south, no change, and a zone that changes twice around Ramadan. */
const ZONES = [
  ...['America/New_York', 'Australia/Lord_Howe', 'Asia/Kolkata', 'Africa/Casablanca'],
  ...(IS_LONG ? ['Europe/Berlin', 'America/Santiago', 'Pacific/Chatham'] : []),
];

interface Cadence {
  readonly schedule: string;
  /** Local times of a day, in minutes; each happens once a day. Null: every local time that matches, as often as it is shown. */
  readonly times: readonly number[] | null;
  readonly matches: (local: Date) => boolean;
}

const CADENCES: readonly Cadence[] = [
  { schedule: '30 2 * * 0', times: [150], matches: (local) => local.getUTCDay() === 0 },
  { schedule: '0 0 * * *', times: [0], matches: () => true },
  { schedule: '15,45 1,2 * * 0', times: [75, 105, 135, 165], matches: (local) => local.getUTCDay() === 0 },
  {
    schedule: '0 */12 * * 0,1',
    times: null,
    matches: (l) => l.getUTCDay() <= 1 && l.getUTCMinutes() === 0 && l.getUTCHours() % 12 === 0,
  },
  {
    schedule: '*/30 1-3 * * 0',
    times: null,
    matches: (l) => l.getUTCDay() === 0 && l.getUTCMinutes() % 30 === 0 && l.getUTCHours() >= 1 && l.getUTCHours() <= 3,
  },
];

function wallTimes(cadence: Cadence & { readonly times: readonly number[] }, rules: ZoneRules): Set<number> {
  const instants = new Set<number>();
  for (let date = FROM - DAY; date <= TO + DAY; date += DAY) {
    if (!cadence.matches(new Date(date))) continue;
    for (const minutes of cadence.times) instants.add(rules.instantOf(date + minutes * MINUTE));
  }
  return instants;
}

function shownTimes(cadence: Cadence, rules: ZoneRules): Set<number> {
  const instants = new Set<number>();
  for (let at = FROM; at <= TO; at += 15 * MINUTE) if (cadence.matches(new Date(rules.local(at)))) instants.add(at);
  return instants;
}

function expectedInstants(cadence: Cadence, rules: ZoneRules): readonly string[] {
  const { times } = cadence;
  const instants = times === null ? shownTimes(cadence, rules) : wallTimes({ ...cadence, times }, rules);
  return [...instants]
    .filter((at) => at > FROM && at <= TO)
    .sort((a, b) => a - b)
    .map((at) => new Date(at).toISOString());
}

/**
 * Runs it until `TO`, and removes ended dispatches each month, as a gateway does, because stored ones slow down each
 * query.
 */
async function firedInstants({ clock, store }: SchedulerBench): Promise<readonly (readonly string[])[]> {
  const fired = CADENCES.map(() => new Map<Ref, string>());
  while (clock.now() < TO) {
    await clock.run(Math.min(MONTH, TO - clock.now()));
    for (const [index, instants] of fired.entries())
      for (const { ref, delivery_id } of store.look({ kind: 'list', filter: { job: `job-${index}`, limit: 100_000 } }))
        instants.set(ref, delivery_id.split('@')[1] ?? '');
    await store.write({ kind: 'cleanup', before: clock.now() + 1, after: 0, limit: 100_000 });
  }
  return fired.map((instants) => [...instants].sort(([a], [b]) => a - b).map(([, instant]) => instant));
}

for (const zone of ZONES) {
  test(`a year in ${zone}: every instant once, and no other`, async () => {
    const rules = zoneRules(zone, FROM, TO);
    const jobs = CADENCES.map(({ schedule }, index) => jobPlan(`job-${index}`, { schedule, timezone: zone }));
    const bench = schedulerBench(jobTable(...jobs), { clock: new FakeClock(FROM), pollMs: MONTH });
    await begin(bench);
    const fired = await firedInstants(bench);
    for (const [index, cadence] of CADENCES.entries())
      assert.deepEqual(fired[index], expectedInstants(cadence, rules), `${cadence.schedule} in ${zone}`);
  });
}
