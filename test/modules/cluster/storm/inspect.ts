/** Inspects the database and the external effects after the storm, and reports problems. */
import { setTimeout as sleep } from 'node:timers/promises';
import { runSql } from '../../../helpers/postgres/database.ts';
import { openTestStore } from '../../../helpers/postgres/store.ts';
import type { StormEvent } from './senders.ts';
import { IMMEDIATE, JOB, LIMIT } from './table.ts';
import type { World } from './world.ts';

const SCHEMA = 'hookwright';

/** Resolves when no work is pending. @returns false: not within `ms` */
export async function settles(url: string, ms: number): Promise<boolean> {
  for (const end = performance.now() + ms; performance.now() < end; await sleep(200)) {
    const [left] = await runSql<{ open: number }>(
      url,
      `SELECT count(*)::integer AS open FROM ${SCHEMA}.work w JOIN ${SCHEMA}.dispatch d USING (ref) WHERE d.job IS NULL`,
    );
    if (left?.open === 0) return true;
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

interface Row {
  readonly id: string;
  readonly delivery_id: string;
  readonly job: string | null;
  readonly state: string;
  readonly reason: string | null;
}

const ROWS =
  "SELECT d.id, d.head::json->>1 AS delivery_id, d.job, coalesce(e.state, 'open ' || w.state) AS state, " +
  `e.reason FROM ${SCHEMA}.dispatch d LEFT JOIN ${SCHEMA}.ended e USING (ref) LEFT JOIN ${SCHEMA}.work w USING (ref)`;

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

export async function inspect(url: string, world: World, events: readonly StormEvent[]): Promise<Findings> {
  const store = await openTestStore(url, SCHEMA);
  const wrong = [...(await store.read({ kind: 'audit' }))];
  await store.close();
  const rows = await runSql<Row>(url, ROWS);
  const stored = byDeliveryId(rows.filter(({ job }) => job === null));
  for (const event of events) wrong.push(...wrongWith(event, stored.get(event.id) ?? [], world));
  const instants = byDeliveryId(rows.filter(({ job }) => job !== null));
  for (const [instant, { length }] of instants) if (length > 1) wrong.push(`${instant}: fired ${length} times`);
  for (const [message, keys] of world.delivered) {
    if (!message.endsWith(JOB) && keys.size > 1) wrong.push(`"${message}": delivered under ${keys.size} keys`);
  }
  const peak = world.peaks.get('limited') ?? 0;
  if (peak > LIMIT) wrong.push(`${peak} runs of a route at once that may have ${LIMIT}`);
  const open = rows.filter(({ state, job }) => state.startsWith('open ') && job === null).length;
  const superseded = rows.filter(({ state }) => state === 'skipped').length;
  let repeatedRuns = 0;
  for (const [prompt, runs] of world.runs) if (prompt !== JOB) repeatedRuns += runs - 1;
  return { wrong, repeatedRuns, superseded, instants: instants.size, open };
}

function byDeliveryId(rows: readonly Row[]): ReadonlyMap<string, readonly Row[]> {
  const found = new Map<string, Row[]>();
  for (const row of rows) found.set(row.delivery_id, [...(found.get(row.delivery_id) ?? []), row]);
  return found;
}

function wrongWith({ id, route }: StormEvent, stored: readonly Row[], { runs, delivered }: World): readonly string[] {
  const [one] = stored;
  if (one === undefined || stored.length > 1) return [`${id}: acknowledged, stored ${stored.length} times`];
  const [ran, sent] = [runs.get(`${route} ${id}`) ?? 0, delivered.get(`answer to ${route} ${id}`)?.size ?? 0];
  if (one.state === 'skipped' && route === 'grouped' && one.reason?.includes('superseded by ')) {
    return ran + sent === 0 ? [] : [`${id}: superseded, but ran ${ran} times`];
  }
  if (one.state.startsWith('open ')) return [];
  if (one.state !== 'done') return [`${id}: ended ${one.state}: ${one.reason}`];
  return ran > 0 && sent === (route === IMMEDIATE ? 0 : 1)
    ? []
    : [`${id}: done, ran ${ran} times, delivered ${sent} times`];
}
