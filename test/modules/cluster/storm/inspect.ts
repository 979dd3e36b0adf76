/** Inspects the store and the external effects after the storm, and reports problems. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Store } from '../../../../runtime/store/contract.ts';
import type { DispatchSummary } from '../../../../runtime/store/queries.ts';
import { connect } from '../../../../runtime/store/sqlite/driver.ts';
import { allOf } from '../../../crash/turns.ts';
import { runSql } from '../../../helpers/postgres/database.ts';
import { openTestStore } from '../../../helpers/postgres/store.ts';
import { openOfflineStore } from '../../../helpers/rescued-store.ts';
import type { Senders, StormEvent } from './senders.ts';
import { BUDGET, IMMEDIATE, JOB, LIMIT } from './table.ts';
import type { World } from './world.ts';

const SCHEMA = 'hookwright';
const isUrl = (store: string): boolean => store.startsWith('postgres');
const countOpen = (schema: string): string =>
  `SELECT count(*) AS open FROM ${schema}work w JOIN ${schema}dispatch d USING (ref) WHERE d.job IS NULL`;
/** A file keeps the rows of ended work. */
const COUNT_IN_FILE = `${countOpen('')} AND w.finished_at IS NULL`;

/** @param store URL of a database, or path of a file */
async function openIn(store: string): Promise<number> {
  if (isUrl(store)) {
    const [left] = await runSql<{ open: number }>(store, countOpen(`${SCHEMA}.`));
    return Number(left?.open);
  }
  const db = connect(store, { busyMs: 5000 });
  try {
    const [open] = db.query<[number]>(COUNT_IN_FILE).all()[0] ?? [-1];
    return Number(open);
  } finally {
    db.close();
  }
}

const openStore = (store: string): Promise<Store> =>
  isUrl(store) ? openTestStore(store, SCHEMA) : openOfflineStore(store);

/** Resolves when no work is pending. @returns false: not within `ms` */
export async function settles(store: string, ms: number): Promise<boolean> {
  for (const end = performance.now() + ms; performance.now() < end; await sleep(200)) {
    if ((await openIn(store)) === 0) return true;
  }
  return false;
}

/** How often each of these delivery ids is stored, by id; absent ones are left out. */
export async function storedIds(url: string, ids: readonly string[]): Promise<ReadonlyMap<string, number>> {
  const named = ids.map((id) => `'${id}'`).join();
  const rows = await runSql<{ id: string; times: number }>(
    url,
    `SELECT head::json->>1 AS id, count(*)::integer AS times FROM ${SCHEMA}.dispatch ` +
      `WHERE head::json->>1 IN (${named}) GROUP BY 1`,
  );
  return new Map(rows.map(({ id, times }) => [id, times]));
}

export interface Findings {
  readonly wrong: readonly string[];
  /** Runs beyond the first. They are allowed, because runs happen at least once. */
  readonly repeatedRuns: number;
  readonly superseded: number;
  /** Instants of the job that have fired. */
  readonly instants: number;
  /** Dispatches that have not ended. */
  readonly open: number;
}

interface Inspected {
  readonly world: World;
  readonly senders: Senders;
  readonly events: readonly StormEvent[];
}

/** @param at URL of a database, or path of a file */
export async function inspect(at: string, { world, senders, events }: Inspected): Promise<Findings> {
  const store = await openStore(at);
  const wrong = [...(await store.read({ kind: 'audit' }))];
  const rows = await allOf(store);
  await store.close();
  const stored = byDeliveryId(rows.filter(({ job }) => job === null));
  for (const event of events) {
    const found = stored.get(event.id) ?? [];
    if (senders.acknowledged.has(event.id)) wrong.push(...wrongWith(event, found, world));
    else if (senders.unknown.has(event.id)) continue;
    else if (found.length > 0) wrong.push(`${event.id}: refused or ignored, and stored as ${found[0]?.state}`);
    else if (world.runs.has(`${event.route} ${event.id}`)) wrong.push(`${event.id}: refused or ignored, and ran`);
  }
  wrong.push(...wrongTurns(rows, world), ...wrongBudgets(rows));
  const instants = byDeliveryId(rows.filter(({ job }) => job !== null));
  for (const [instant, { length }] of instants) if (length > 1) wrong.push(`${instant}: fired ${length} times`);
  for (const [message, keys] of world.delivered) {
    if (!message.endsWith(JOB) && keys.size > 1) wrong.push(`"${message}": delivered under ${keys.size} keys`);
  }
  const peak = world.peaks.get('limited') ?? 0;
  if (peak > LIMIT) wrong.push(`${peak} runs of a route at once that may have ${LIMIT}`);
  const open = rows.filter(({ state, job }) => !ENDED.has(state) && job === null).length;
  const superseded = rows.filter(({ state }) => state === 'skipped').length;
  let repeatedRuns = 0;
  for (const [prompt, runs] of world.runs) if (prompt !== JOB) repeatedRuns += runs - 1;
  return { wrong, repeatedRuns, superseded, instants: instants.size, open };
}

const ENDED: ReadonlySet<string> = new Set(['done', 'dead', 'skipped']);

function byDeliveryId(rows: readonly DispatchSummary[]): ReadonlyMap<string, readonly DispatchSummary[]> {
  const found = new Map<string, DispatchSummary[]>();
  for (const row of rows) found.set(row.delivery_id, [...(found.get(row.delivery_id) ?? []), row]);
  return found;
}

/** Runs of a session begin in the order of acceptance, and never two at once. */
function wrongTurns(rows: readonly DispatchSummary[], { turns, peaks }: World): readonly string[] {
  return [...turns].flatMap(([session, ran]) => {
    const order = rows.flatMap(({ route, delivery_id: id }) => (route === 'session' && ran.includes(id) ? [id] : []));
    const peak = peaks.get(session) ?? 0;
    return [
      ...(peak > 1 ? [`session ${session}: ${peak} runs at once`] : []),
      ...(order.join() === ran.join() ? [] : [`session ${session}: accepted ${order.join()}, ran ${ran.join()}`]),
    ];
  });
}

const HOUR_MS = 3_600_000;

/** No more events are accepted in an hour than the budget has runs. */
function wrongBudgets(rows: readonly DispatchSummary[]): readonly string[] {
  const hours = new Map<number, number>();
  for (const { route, accepted_at, state } of rows) {
    if (route !== 'budgeted' || state === 'skipped') continue;
    const hour = Math.floor(accepted_at / HOUR_MS);
    hours.set(hour, (hours.get(hour) ?? 0) + 1);
  }
  return [...hours.values()].filter((runs) => runs > BUDGET).map((runs) => `${runs} runs in an hour, not ${BUDGET}`);
}

function wrongWith(
  { id, route }: StormEvent,
  stored: readonly DispatchSummary[],
  { runs, delivered }: World,
): readonly string[] {
  const [one] = stored;
  if (one === undefined || stored.length > 1) return [`${id}: acknowledged, stored ${stored.length} times`];
  const [ran, sent] = [runs.get(`${route} ${id}`) ?? 0, delivered.get(`answer to ${route} ${id}`)?.size ?? 0];
  if (one.state === 'skipped' && route === 'grouped' && one.reason?.includes('superseded by ')) {
    return ran + sent === 0 ? [] : [`${id}: superseded, but ran ${ran} times`];
  }
  if (!ENDED.has(one.state)) return [];
  if (one.state !== 'done') return [`${id}: ended ${one.state}: ${one.reason}`];
  return ran > 0 && sent === (route === IMMEDIATE ? 0 : 1)
    ? []
    : [`${id}: done, ran ${ran} times, delivered ${sent} times`];
}
