/** The SQL for the queries of ../queries.ts. */

import { earlierNeeded, fillEvents } from '../../../../runtime/store/burst.ts';
import { decodeOr } from '../../../../runtime/store/decode.ts';
import type { HeadTarget } from '../../../../runtime/store/encode.ts';
import { guardKey, readGuard } from '../../../../runtime/store/guard-mutations.ts';
import { sessionName } from '../../../../runtime/store/identity.ts';
import type { JobState, JobTick } from '../../../../runtime/store/job-mutations.ts';
import type { IsHeldUp, ListedRow, StoredRow } from '../../../../runtime/store/listed-rows.ts';
import { readListed, readStored } from '../../../../runtime/store/listed-rows.ts';
import type {
  AgentsNow,
  DeadWork,
  DispatchSummary,
  LastError,
  OpenWork,
  Query,
  QueryResults,
  StoredDispatch,
  StoredNode,
  StoreOverview,
  Tally,
  WaitCounts,
  WaitingDelivery,
} from '../../../../runtime/store/queries.ts';
import { MOST_TURNS } from '../../../../runtime/store/queries.ts';
import type { SaidRow } from '../../../../runtime/store/said.ts';
import { resetRow, saidIn, toldRows } from '../../../../runtime/store/said.ts';
import { isFinal } from '../../../../runtime/store/states.ts';
import type { StateCount, TallyColumn } from '../../../../runtime/store/tally.ts';
import { auditTallies, TALLY_COLUMNS } from '../../../../runtime/store/tally.ts';
import { findHeldUp } from '../../../../runtime/store/unit/agent-room.ts';
import type { UsageSum } from '../../../../runtime/store/usage.ts';
import type { LaneWaits } from '../../../../runtime/store/wait-counts.ts';
import { countWaits, FOR_BUDGET } from '../../../../runtime/store/wait-counts.ts';
import type { Signatures } from '../signatures.ts';
import { COUNT_RUNNING, PAUSED, routeLaneOf } from './due-queries.ts';
import { sumFigures } from './figures.ts';
import type { DatabaseJob } from './signed-jobs.ts';
import { createJobReader, READ_DIGESTS } from './signed-jobs.ts';
import type { AskSnapshot, PgQueries, Statement } from './snapshot.ts';
import { keyOfClaim, shortenedKey } from './tables.ts';

/** It waits for a person. */
const IS_ASKED = "x.waiting IS NOT NULL AND x.waiting <> 'rejected' AND x.holder IS NULL";
const LISTED_COLUMNS =
  'd.ref, d.id, d.profile, d.route, d.job, d.mode, d.accepted_at, d.head, coalesce(w.state, e.state) AS state, ' +
  'coalesce(w.started_at, e.started_at) AS started_at, coalesce(w.answered_at, e.answered_at) AS answered_at, ' +
  'e.finished_at, coalesce(w.reason, e.reason) AS reason, w.lane, w.due_at, w.waits_for, w.waits_since, ' +
  `(SELECT min(x.set_at) FROM delivery x WHERE x.ref = d.ref AND ${IS_ASKED}) AS asked_at, ` +
  '(SELECT json_build_array(sum(input_tokens), sum(output_tokens), sum(cost))::text FROM usage u WHERE u.ref = d.ref) AS usage, ' +
  'CASE WHEN w.session IS NOT NULL THEN (SELECT 1 + count(*)::integer FROM (SELECT 1 FROM work b ' +
  `WHERE b.session = w.session AND b.turn < w.turn LIMIT ${MOST_TURNS - 1}) earlier) END AS turn`;
/** A dispatch has a row in either `work` or `ended`. */
const LISTED_TABLES = 'dispatch d LEFT JOIN work w ON w.ref = d.ref LEFT JOIN ended e ON e.ref = d.ref';
const STORED =
  `SELECT ${LISTED_COLUMNS}, d.max_concurrent, d.body, a.text AS answer, a.program FROM ${LISTED_TABLES} ` +
  'LEFT JOIN answer a ON a.ref = d.ref';

/** @param signatures checks the jobs */
export const createPgQueries = (ask: AskSnapshot, signatures: Signatures): PgQueries => ({
  async is_claimed({ key, now }) {
    const [found] = await ask(['SELECT 1 FROM claim WHERE key = $1 AND expires_at > $2', keyOfClaim(key), now]);
    return found !== undefined && found.length > 0;
  },
  async load({ ref, known }) {
    const [rows = [], steps = [], running = []] = await ask<[StoredRow[], StepRow[], Running[]?]>(
      [`${STORED} WHERE d.ref = $1`, ref],
      ['SELECT ref, data FROM step WHERE ref = $1 ORDER BY n', ref],
      ...underWay(known),
    );
    if (rows[0] === undefined) return null;
    const [dispatch = null] = await whole(ask, [readStored(rows[0], stepsOf(steps), heldUp(known, running))]);
    return dispatch;
  },
  find: (query) => find(ask, query),
  async ended({ ids }) {
    const [rows] = await ask<[{ id: string }[]]>([
      'SELECT d.id FROM dispatch d JOIN ended e USING (ref) WHERE d.id = ANY($1::text[])',
      ids,
    ]);
    return rows.map(({ id }) => id);
  },
  list: (query) => list(ask, query),
  async sessions({ profile, known }) {
    const [rows = [], running = []] = await ask<[(ListedRow & { waiting: number })[], Running[]?]>(
      [BUSY, profile],
      ...underWay(known),
    );
    return rows.map(({ waiting, ...row }) => {
      const run = readListed(row, heldUp(known, running));
      return { session: run.session ?? '', run, waiting };
    });
  },
  async waits({ known }) {
    const [turns = [], lanes = [], running = []] = await ask<[Turns[], LaneWaits[], Running[]?]>(
      [TURNS],
      [WAITS, known?.now ?? 0],
      ...underWay(known),
    );
    const counted = turns[0] ?? { session: 0, sessions: 0 };
    return countWaits(counted, lanes, heldUp(known, running), known?.now ?? 0);
  },
  async said(query) {
    const session = shortenedKey(sessionName(query.of));
    const [rows = [], reset = []] = await ask<[SaidRow[], { body: string }[]]>(
      [SAID, session, query.turns],
      ['SELECT body FROM guard_state WHERE id = $1', shortenedKey(guardKey(resetRow(query.of)))],
    );
    return saidIn(await whole(ask, toldRows(rows, reset[0]?.body)), query);
  },
  overview: ({ now }) => overview(ask, now),
  open_work: () => openWork(ask),
  dead_work: async () => (await ask<[DeadWork[]]>([DEAD_WORK]))[0],
  async oldest_due({ now }) {
    const [rows = []] = await ask<[{ readonly due_at: number | null }[]]>([OLDEST_DUE, now]);
    return rows[0]?.due_at ?? null;
  },
  async guard_rows({ of }) {
    type Row = { readonly key: string; readonly body: string };
    const [rows = []] = await ask<[Row[]]>(['SELECT key, body FROM guard_state WHERE kind = $1 ORDER BY id', of]);
    return rows.flatMap(({ key, body }) => readGuard(of, key, body));
  },
  usage: async ({ since, slot_ms }) => (await ask<[UsageSum[]]>([USAGE, slot_ms, since]))[0],
  approvals: async () => (await ask<[WaitingDelivery[]]>([APPROVALS]))[0],
  figures: (query) => sumFigures(ask, query),
  nodes: () => readNodes(ask),
  audit: () => audit(ask),
  back_up: () => Promise.reject(new Error('a database is copied by pg_dump')),
  ...jobQueries(ask, createJobReader(signatures)),
});

type Running = { readonly lane: string; readonly running: number };

/** The statement that counts the runs under way, where that tells what a run waits for. */
const underWay = (known: AgentsNow | undefined): readonly Statement[] => (known === undefined ? [] : [[COUNT_RUNNING]]);

const heldUp = (known: AgentsNow | undefined, rows: readonly Running[]): IsHeldUp =>
  findHeldUp(known, () => rows.map(({ lane, running }) => [lane, running] as const));

type Turns = Pick<WaitCounts, 'session' | 'sessions'>;
const TURNS =
  'SELECT count(*) FILTER (WHERE waits_for IS NOT NULL)::integer AS session, count(DISTINCT session)::integer AS sessions ' +
  'FROM work WHERE session IS NOT NULL';
const WAITS =
  `SELECT lane, count(*) FILTER (WHERE reason = '${FOR_BUDGET}')::integer AS budget, ` +
  `count(*) FILTER (WHERE due_at <= $1 AND reason IS DISTINCT FROM '${FOR_BUDGET}')::integer AS due ` +
  "FROM work WHERE state = 'pending' AND waits_for IS NULL GROUP BY lane";

const EARLIER =
  'SELECT body FROM dispatch WHERE burst = (SELECT burst FROM dispatch WHERE ref = $1) AND ref < $1 ORDER BY ref DESC LIMIT $2';

/** The rows with the lists of their bursts. */
async function whole<R extends Pick<StoredDispatch, 'ref' | 'dispatch'>>(
  ask: AskSnapshot,
  rows: readonly R[],
): Promise<readonly R[]> {
  const needed = rows.map(({ ref, dispatch }): Statement => [EARLIER, ref, earlierNeeded(dispatch)]);
  if (needed.every(([, , most]) => most === 0)) return rows;
  const found = await ask<{ readonly body: string }[][]>(...needed);
  return rows.map((row, at) => {
    const earlier = found[at]?.map(({ body }) => body) ?? [];
    return { ...row, dispatch: fillEvents(row.dispatch, earlier) };
  });
}

const BUSY =
  `SELECT ${LISTED_COLUMNS}, (SELECT count(*)::integer FROM work o WHERE o.session = w.session AND o.waits_for IS NOT NULL) AS waiting ` +
  `FROM ${LISTED_TABLES} WHERE w.session IS NOT NULL AND w.waits_for IS NULL AND d.profile = $1 ORDER BY d.ref`;

const SAID =
  'SELECT d.ref, d.body, a.text AS answer, coalesce(w.answered_at, e.answered_at) AS answered_at FROM dispatch d ' +
  'JOIN answer a ON a.ref = d.ref LEFT JOIN work w ON w.ref = d.ref LEFT JOIN ended e ON e.ref = d.ref ' +
  `WHERE d.session = $1 AND coalesce(w.answered_at, e.answered_at) IS NOT NULL AND a.text <> '""' ORDER BY d.ref DESC LIMIT $2`;

interface StepRow {
  readonly data: string;
}

const stepsOf = (rows: readonly StepRow[]): readonly string[] => rows.map(({ data }) => data);

/** The dispatch with exactly this id; otherwise at most two whose id has this prefix. */
const FOUND =
  "SELECT ref FROM dispatch WHERE id = $1 UNION ALL (SELECT ref FROM dispatch WHERE $1 <> '' AND id ~>=~ $1 AND id ~<~ ($1 || $2) " +
  'AND NOT EXISTS (SELECT 1 FROM dispatch WHERE id = $1) LIMIT 2)';

async function find(ask: AskSnapshot, { id, known }: Extract<Query, { kind: 'find' }>): Promise<QueryResults['find']> {
  // Our texts contain no NUL, which PostgreSQL does not accept.
  if (id.includes('\0')) return { kind: 'unknown' };
  const values = [id, '\u{10ffff}'] as const;
  const [rows = [], steps = [], running = []] = await ask<[StoredRow[], StepRow[], Running[]?]>(
    [`${STORED} WHERE d.ref IN (${FOUND})`, ...values],
    [`SELECT data FROM step WHERE ref IN (${FOUND}) ORDER BY ref, n`, ...values],
    ...underWay(known),
  );
  const [row] = rows;
  if (row === undefined) return { kind: 'unknown' };
  if (rows.length > 1) return { kind: 'ambiguous' };
  const stored = readStored(row, stepsOf(steps), heldUp(known, running));
  const [dispatch = stored] = await whole(ask, [stored]);
  return { kind: 'found', dispatch };
}

async function list(
  ask: AskSnapshot,
  { filter, known }: Extract<Query, { kind: 'list' }>,
): Promise<readonly DispatchSummary[]> {
  const values: (string | number)[] = [];
  const where: string[] = [];
  const add = (value: string | number | undefined, condition: (place: string) => string): void => {
    if (value !== undefined) where.push(condition(`$${values.push(value)}`));
  };
  const { state } = filter;
  if (state !== undefined && isFinal(state)) where.push(`e.state = '${state}'`);
  add(state !== undefined && !isFinal(state) ? state : undefined, (place) => `w.state = ${place}`);
  if (filter.oldest_open) where.push('w.ref IS NOT NULL');
  add(filter.route, (place) => `d.route = ${place}`);
  add(filter.job, (place) => `d.job = ${place}`);
  add(filter.since, (place) => `d.accepted_at >= ${place}`);
  add(filter.before, (place) => `d.ref < ${place}`);
  const condition = where.length === 0 ? '' : `WHERE ${where.join(' AND ')}`;
  const sql = `SELECT ${LISTED_COLUMNS} FROM ${LISTED_TABLES} ${condition} ORDER BY d.ref ${filter.oldest_open ? 'ASC' : 'DESC'} LIMIT $${values.push(filter.limit)}`;
  const [rows = [], running = []] = await ask<[ListedRow[], Running[]?]>([sql, ...values], ...underWay(known));
  const isHeldUp = heldUp(known, running);
  return rows.map((row) => readListed(row, isHeldUp));
}

const OLDEST_DUE =
  `SELECT min(due_at) AS due_at FROM (SELECT due_at FROM work WHERE state = 'pending' AND ${routeLaneOf('lane')} NOT IN (${PAUSED}) ` +
  'UNION ALL SELECT due_at FROM delivery WHERE holder IS NULL) AS due';

const TALLIES: Statement = [
  `SELECT lane, ${[...TALLY_COLUMNS, 'bytes'].map((name) => `sum(${name})::bigint AS ${name}`).join(', ')} FROM tally GROUP BY lane`,
];

type TallyRow = Record<TallyColumn | 'bytes', number> & { readonly lane: string };

function talliesOf(rows: readonly TallyRow[]): readonly Tally[] {
  const tallies = rows.map(({ lane, bytes: _, ...counts }) => {
    const [profile, route] = JSON.parse(lane) as [string, string | null];
    return { profile, route, ...counts };
  });
  const nameOf = ({ profile, route }: Tally): string => `${profile}\n${route ?? ''}`;
  return tallies.sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));
}

async function overview(ask: AskSnapshot, now: number): Promise<StoreOverview> {
  const [tallyRows = [], [groups], [deliveries], [oldest], [error]] = await ask<
    [
      TallyRow[],
      [{ open: number }],
      [{ waiting: number; due: number }],
      [{ accepted_at: number }?],
      [{ value: string }?],
    ]
  >(
    TALLIES,
    ["SELECT count(*) AS open FROM work WHERE group_key IS NOT NULL AND state = 'pending'"],
    ['SELECT count(*) AS waiting, count(*) FILTER (WHERE due_at <= $1) AS due FROM delivery WHERE holder IS NULL', now],
    ['SELECT d.accepted_at FROM work w JOIN dispatch d USING (ref) ORDER BY w.ref LIMIT 1'],
    ["SELECT value FROM meta WHERE key = 'last_error'"],
  );
  const tallies = talliesOf(tallyRows);
  const runs = tallies.reduce((sum, { pending }) => sum + pending, 0) - groups.open;
  return {
    tallies,
    backlog: {
      ...{ runs, deliveries: deliveries.due, deliveries_delayed: deliveries.waiting - deliveries.due },
      groups: groups.open,
    },
    oldest_open_at: oldest?.accepted_at ?? null,
    last_error: decodeOr<LastError | null>(error?.value ?? 'null', () => true, null),
    bytes: tallyRows.reduce((sum, { bytes }) => sum + bytes, 0),
    damage: null,
  };
}

/** A delivery that has ended has no row in `delivery`. */
const WAITING_WORK =
  'SELECT d.profile, d.route, d.job, d.targets, NULL::integer AS n, count(*) AS count FROM work w JOIN dispatch d USING (ref) ' +
  "WHERE w.state <> 'delivering' GROUP BY 1, 2, 3, 4 UNION ALL SELECT d.profile, d.route, d.job, d.targets, x.n, count(*) " +
  'FROM delivery x JOIN dispatch d USING (ref) GROUP BY 1, 2, 3, 4, 5';

async function openWork(ask: AskSnapshot): Promise<readonly OpenWork[]> {
  type Row = Omit<OpenWork, 'target'> & { readonly targets: string; readonly n: number | null };
  const [rows = []] = await ask<[Row[]]>([WAITING_WORK]);
  const found = new Map<string, OpenWork>();
  for (const { profile, route, job, targets, n, count } of rows) {
    const all = (JSON.parse(targets) as readonly HeadTarget[]).map(({ target }) => target);
    const needed = n === null ? (all.length === 0 ? [null] : all) : [all[n] ?? null];
    for (const target of needed) {
      const name = JSON.stringify([profile, route, job, target]);
      found.set(name, { profile, route, job, target, count: (found.get(name)?.count ?? 0) + count });
    }
  }
  return [...found].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, work]) => work);
}

const DEAD_WORK =
  'SELECT d.profile, d.route, d.job, count(*) AS count, min(e.finished_at) AS since FROM ended e JOIN dispatch d USING (ref) ' +
  "WHERE e.state = 'dead' GROUP BY 1, 2, 3 ORDER BY 1, 2, 3";

const APPROVALS =
  'SELECT x.ref, x.n AS index, d.id, d.profile, d.route, d.job, x.set_at AS since, x.due_at AS expires_at, x.waiting ' +
  `FROM delivery x JOIN dispatch d USING (ref) WHERE ${IS_ASKED} ORDER BY x.ref, x.n`;

const USAGE =
  'SELECT d.profile, d.route, d.job, u.agent, u.at / $1::bigint * $1::bigint AS slot, count(*) AS runs, ' +
  ['input_tokens', 'output_tokens'].map((name) => `sum(u.${name})::bigint AS ${name}`).join(', ') +
  ', sum(u.cost) AS cost FROM usage u JOIN dispatch d USING (ref) WHERE u.at >= $2 GROUP BY 1, 2, 3, 4, 5 ORDER BY 5, 1, 2, 3, 4';

const STORED_STATES =
  'SELECT d.profile, d.route, coalesce(w.state, e.state) AS state, count(*) AS count ' +
  'FROM dispatch d LEFT JOIN work w USING (ref) LEFT JOIN ended e USING (ref) GROUP BY 1, 2, 3';

async function audit(ask: AskSnapshot): Promise<readonly string[]> {
  const [tallies = [], states = []] = await ask<[TallyRow[], StateCount[]]>(TALLIES, [STORED_STATES]);
  return auditTallies(talliesOf(tallies), states);
}

type JobQueries = Pick<PgQueries, 'jobs' | 'jobs_version' | 'job_running' | 'job_ticks'>;
type VersionRow = { readonly value: string };

const VERSION: Statement = ["SELECT value FROM meta WHERE key = 'jobs_version'"];
const RUNNING =
  "SELECT 1 FROM job_state s JOIN work w ON w.ref = s.ref WHERE s.job = $1 AND w.state IN ('pending', 'running')";
const TICKS = 'SELECT due_at, outcome, ref, missed FROM job_tick WHERE job = $1 ORDER BY due_at DESC LIMIT $2';

/** @param open returns the records of the rows, by the document that signs them */
export const jobQueries = (ask: AskSnapshot, open: ReturnType<typeof createJobReader>): JobQueries => ({
  async jobs() {
    const [version = [], rows = [], states = [], digests = []] = await ask<
      [VersionRow[], DatabaseJob[], (JobState & { job: string })[], { body: string }[]]
    >(
      VERSION,
      ['SELECT id, name, body FROM job ORDER BY name COLLATE "C", id'],
      ['SELECT job, paused, paused_until, "cursor", signature, ref FROM job_state'],
      [READ_DIGESTS],
    );
    return {
      version: Number(version[0]?.value ?? 0),
      records: open(rows, digests[0]?.body),
      states: Object.fromEntries(states.map(({ job, ...state }) => [job, state])),
    };
  },
  async jobs_version() {
    const [rows = []] = await ask<[VersionRow[]]>(VERSION);
    return Number(rows[0]?.value ?? 0);
  },
  async job_running({ job }) {
    const [rows = []] = await ask([RUNNING, job]);
    return rows.length > 0;
  },
  async job_ticks({ job, limit }) {
    const [rows = []] = await ask<[JobTick[]]>([TICKS, job, limit]);
    return rows;
  },
});

const ms = (time: string): string => `(extract(epoch FROM ${time}) * 1000)::bigint`;
const ENDS_AT = 'least(n.until, coalesce(n.ended_at, n.until))';
/** Hides the earlier starts of a gateway at the same address. */
const IS_LATEST = 'NOT EXISTS (SELECT 1 FROM node later WHERE later.url = n.url AND later.id > n.id)';
const NODES =
  `SELECT n.id AS node, n.url, n.version, n.table_hash AS "table", n.problem, ${ms('n.started_at')} AS started_at, ` +
  `${ms(ENDS_AT)} AS lease_expires_at, ${ms('t.now')} AS read_at, ` +
  "CASE WHEN n.until > t.now AND n.ended_at IS NULL THEN 'serving' WHEN n.has_stopped THEN 'stopped' ELSE 'lost' END AS state " +
  // A gateway that stops ends its own lease, so both instants are from one statement.
  "FROM (SELECT *, abs(extract(epoch FROM ended_at - until)) < 0.001 AS has_stopped FROM node WHERE until > '-infinity') n, " +
  '(SELECT clock_timestamp() AS now) t ' +
  `WHERE (n.until > t.now AND n.ended_at IS NULL) OR ${IS_LATEST} ORDER BY n.id`;

export async function readNodes(ask: AskSnapshot): Promise<readonly StoredNode[]> {
  const [rows = []] = await ask<[StoredNode[]]>([NODES]);
  return rows;
}
