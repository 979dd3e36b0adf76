/** Imports a store of another engine into an empty database, in one transaction. */

import { headTargets } from '../../../../runtime/store/encode.ts';
import { laneKey } from '../../../../runtime/store/identity.ts';
import { isFinal } from '../../../../runtime/store/states.ts';
import { StoreRefused } from '../../../../runtime/store/store.ts';
import { TALLY_COLUMNS } from '../../../../runtime/store/tally.ts';
import type { DispatchRow } from '../../../../runtime/store/unit/rows.ts';
import type { Dispatch } from '../../../../schemas/generated/types.ts';
import type { MovedCount, MovedDispatch, MoveSource } from '../moved-rows.ts';
import type { PgConnection } from './driver.ts';
import { shortenedKey } from './keys.ts';
import { PUT_META, putDispatches } from './store-unit.ts';
import { ADD_COUNTS, CountChanges, insertInto, ROW_BYTES, upsert } from './tables.ts';

/** The counts of imported rows belong to no gateway. */
const NO_NODE = 0;
const MOVED_FROM = 'moved_from';

const OPEN = insertInto('work');
const ENDED = insertInto('ended');
const DELIVERIES = insertInto('delivery');
const ANSWERS = insertInto('answer');
const STEPS = insertInto('step');
const CLAIMS = insertInto('claim');
const LANES = upsert('lane', 'lane');
const STATES = insertInto('job_state');
const TICKS = insertInto('job_tick');
const JOBS =
  'INSERT INTO job (id, profile, name, body) SELECT id, profile, name, body FROM json_to_recordset($1::json) ' +
  'AS x(id text, profile text, name text, body text)';

/**
 * Imports the store, within a transaction and with the tables in the search path; resolves to the number of rows of each
 * kind that the database has stored.
 * @param progress called with the total number of rows stored so far
 */
export async function importStore(
  db: PgConnection,
  source: MoveSource,
  progress: (done: number) => void,
): Promise<MovedCount> {
  const counts = new CountChanges();
  const total = { dispatches: 0, deliveries: 0, answers: 0, steps: 0, claims: 0, jobs: 0, job_ticks: 0 };
  const add = (stored: Partial<MovedCount>): void => {
    for (const kind of Object.keys(total) as (keyof MovedCount)[]) total[kind] += stored[kind] ?? 0;
    progress(Object.values(total).reduce((sum, count) => sum + count, 0));
  };
  for (const slice of source.dispatches()) add(await putSlice(db, slice, counts));
  for (const slice of source.claims()) {
    const claims = slice.map(({ key, expires_at }) => ({ key: shortenedKey(key), expires_at }));
    add({ claims: await put(db, CLAIMS, claims) });
  }
  add(await putRest(db, source, counts));
  return total;
}

const put = async (db: PgConnection, sql: string, rows: readonly object[]): Promise<number> =>
  rows.length === 0 ? 0 : db.change(sql, [JSON.stringify(rows)]);

async function putSlice(
  db: PgConnection,
  slice: readonly MovedDispatch[],
  counts: CountChanges,
): Promise<Partial<MovedCount>> {
  for (const { profile, route, body, answer } of slice) {
    counts.add(laneKey(profile, route), 'bytes', bytesOf(body) + bytesOf(answer) + ROW_BYTES);
  }
  const belongings = <T extends object>(of: (row: MovedDispatch) => readonly T[]): readonly object[] =>
    slice.flatMap((row) => of(row).map((each) => ({ ref: row.ref, ...each })));
  const [dispatches, answers, deliveries, steps] = await Promise.all([
    putDispatches(db, slice.map(dispatchRow)),
    put(
      db,
      ANSWERS,
      belongings(({ answer }) => (answer === null ? [] : [{ text: answer }])),
    ),
    put(
      db,
      DELIVERIES,
      belongings((row) => row.deliveries),
    ),
    put(
      db,
      STEPS,
      belongings((row) => row.steps),
    ),
    put(db, OPEN, slice.filter(({ state }) => !isFinal(state)).map(openRow)),
    put(db, ENDED, slice.filter(({ state }) => isFinal(state)).map(endedRow)),
  ]);
  return { dispatches, answers, deliveries, steps };
}

async function putRest(db: PgConnection, source: MoveSource, counts: CountChanges): Promise<Partial<MovedCount>> {
  const rest = source.rest();
  for (const { lane, counts: moved } of rest.counts) {
    for (const column of TALLY_COLUMNS) counts.add(lane, column, moved[column]);
  }
  const limited = rest.counts.filter(({ max_concurrent }) => max_concurrent !== null);
  const [jobs, job_ticks] = await Promise.all([
    put(db, JOBS, rest.jobs),
    put(db, TICKS, rest.job_ticks),
    put(db, STATES, rest.job_states),
    put(db, ADD_COUNTS, counts.rows(NO_NODE)),
    put(db, LANES, limited),
    put(db, PUT_META, [...rest.meta, { key: MOVED_FROM, value: source.id }]),
    db.query("SELECT setval('dispatch_ref', greatest((SELECT max(ref) FROM dispatch), 1))"),
  ]);
  return { jobs, job_ticks };
}

/**
 * Checks that a store can be moved here. Resolves to `moved` when this store was moved here already. Rejects with
 * StoreRefused when gateways serve from the database, or when it holds other rows.
 */
export async function checkEmpty(db: PgConnection, id: string): Promise<'empty' | 'moved'> {
  // A gateway that starts meanwhile waits until this transaction ends.
  await db.script('LOCK TABLE node IN SHARE ROW EXCLUSIVE MODE');
  const [found] = await db.query<{ nodes: number; is_used: boolean; moved: string | null }>(
    'SELECT (SELECT count(*) FROM node WHERE ended_at IS NULL AND until > clock_timestamp()) AS nodes, ' +
      'EXISTS (SELECT 1 FROM dispatch) OR EXISTS (SELECT 1 FROM claim) OR EXISTS (SELECT 1 FROM job) ' +
      'OR EXISTS (SELECT 1 FROM job_state) OR EXISTS (SELECT 1 FROM session) AS is_used, ' +
      '(SELECT value FROM meta WHERE key = $1) AS moved',
    [MOVED_FROM],
  );
  if (found?.moved === id) return 'moved';
  const nodes = found?.nodes ?? 0;
  if (nodes > 0) {
    const [serve, them] = nodes === 1 ? ['gateway serves', 'it'] : ['gateways serve', 'them'];
    throw new StoreRefused(
      `${nodes} ${serve} from the database\nstop ${them} first: no gateway may use the database while a store is moved into it`,
    );
  }
  if (found?.is_used === true) {
    throw new StoreRefused(
      'the database holds dispatches, delivery ids, jobs or sessions already\nname an empty schema: gateway.store.schema',
    );
  }
  return 'empty';
}

const bytesOf = (text: string | null): number => (text === null ? 0 : Buffer.byteLength(text));

function dispatchRow(row: MovedDispatch): DispatchRow {
  const { ref, id, profile, route, job, mode, accepted_at, max_concurrent, body } = row;
  const dispatch = JSON.parse(body) as Dispatch;
  const [event, delivery, replayOf = null, superseded = dispatch.superseded] = JSON.parse(row.head) as unknown[];
  return {
    ...{ ref, id, profile, route, job, mode: mode as Dispatch['mode'], accepted_at, max_concurrent, body },
    head: JSON.stringify([event, delivery, replayOf, superseded]),
    targets: headTargets(dispatch),
  };
}

function endedRow({ ref, state, started_at, answered_at, finished_at, reason }: MovedDispatch): object {
  return { ref, state, started_at, answered_at, finished_at, reason };
}

function openRow(row: MovedDispatch): object {
  const { ref, profile, route, state, accepted_at, started_at, answered_at, reason, failed, first_at, steps } = row;
  return {
    ...{ ref, lane: laneKey(profile, route), state, started_at, answered_at, reason, failed, first_at },
    ...{ due_at: row.due_at ?? accepted_at, set_at: row.set_at ?? accepted_at, steps: steps.length },
    ...{ group_key: row.group_key === null ? null : shortenedKey(row.group_key), superseded: row.superseded ?? 0 },
  };
}
