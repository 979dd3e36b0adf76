/** The SQL for queries of ../queries.ts about counts, jobs, the guard and gateways. */
import { decodeOr } from '../../../../runtime/store/decode.ts';
import type { AddFigures, FigureSum } from '../../../../runtime/store/figures.ts';
import { addedFigures, FIGURE_SUMS, FIGURES, forgottenBefore } from '../../../../runtime/store/figures.ts';
import { COUNT_BLOCKED, JOB_NAME } from '../../../../runtime/store/listed-rows.ts';
import type {
  DeadWork,
  LastError,
  OpenWork,
  Query,
  StoredNode,
  StoreOverview,
  Tally,
} from '../../../../runtime/store/queries.ts';
import type { JobRecord, JobState, JobTick } from '../../../../runtime/store/records.ts';
import { laneParts, NOT_PAUSED, readGuard, storedJob } from '../../../../runtime/store/records.ts';
import type { BlockedCount, StateCount, TallyColumn } from '../../../../runtime/store/tally.ts';
import { auditTallies, shownTallies, TALLY_COLUMNS } from '../../../../runtime/store/tally.ts';
import type { UsageSum } from '../../../../runtime/store/usage.ts';
import { isLastError } from '../../../../schemas/built/rows/LastError.ts';
import type { RefusedRows } from '../refused-rows.ts';
import { readTargets } from './load-unit.ts';
import { dispatchQueries } from './read-dispatches.ts';
import { keysOfClaim } from './store-unit.ts';
import { PAUSED, routeLaneOf } from './take-due.ts';
import type { AskSnapshot, PgQueries, Scope, Statement } from './transact.ts';

/** @param refused records invalid jobs */
export const createPgQueries = (ask: AskSnapshot, refused: RefusedRows): PgQueries => ({
  async is_claimed({ key, now }) {
    const [found] = await ask(['SELECT 1 FROM claim WHERE key = ANY($1) AND expires_at > $2', keysOfClaim(key), now]);
    return found !== undefined && found.length > 0;
  },
  overview: ({ now }) => overview(ask, now),
  open_work: () => openWork(ask),
  dead_work: async () => (await ask<[DeadWork[]]>([DEAD_WORK]))[0],
  async oldest_due({ now }) {
    const [rows = []] = await ask<[{ readonly due_at: number | null }[]]>([OLDEST_DUE, now]);
    return rows[0]?.due_at ?? null;
  },
  async guard_rows({ of, paused = false }) {
    type Row = { readonly key: string; readonly body: string };
    const sql = 'SELECT key, body FROM guard_state WHERE kind = $1 AND body NOT LIKE $2 ORDER BY id';
    const [rows = []] = await ask<[Row[]]>([sql, of, paused ? `%${NOT_PAUSED}` : '']);
    return rows.flatMap(({ key, body }) => readGuard(of, key, body));
  },
  usage: async ({ since, slot_ms }) => (await ask<[UsageSum[]]>([USAGE, slot_ms, since]))[0],
  figures: (query) => sumFigures(ask, query),
  nodes: () => readNodes(ask),
  audit: () => audit(ask),
  ...dispatchQueries(ask),
  ...jobQueries(ask, refused),
});

const OLDEST_DUE =
  `SELECT min(due_at) AS due_at FROM (SELECT due_at FROM work WHERE state = 'pending' AND ${routeLaneOf('lane')} NOT IN (${PAUSED}) ` +
  'UNION ALL SELECT due_at FROM delivery WHERE holder IS NULL) AS due';

const TALLIES: Statement = [
  `SELECT lane, ${[...TALLY_COLUMNS, 'bytes'].map((name) => `sum(${name})::bigint AS ${name}`).join(', ')} FROM tally GROUP BY lane`,
];

type TallyRow = Record<TallyColumn | 'bytes', number> & { readonly lane: string };

function talliesOf(rows: readonly TallyRow[]): readonly Tally[] {
  const tallies = rows.map(({ lane, bytes: _, ...counts }) => {
    const { profile, name: route } = laneParts(lane);
    return { profile, route, ...counts };
  });
  const nameOf = ({ profile, route }: Tally): string => `${profile}\n${route ?? ''}`;
  return tallies.sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));
}

async function overview(ask: AskSnapshot, now: number): Promise<StoreOverview> {
  const [tallyRows = [], blocked = [], [groups], [deliveries], [oldest], [error]] = await ask<
    [
      TallyRow[],
      BlockedCount[],
      [{ open: number }],
      [{ waiting: number; due: number }],
      [{ accepted_at: number }?],
      [{ value: string }?],
    ]
  >(
    TALLIES,
    [COUNT_BLOCKED],
    ["SELECT count(*) AS open FROM work WHERE group_key IS NOT NULL AND state = 'pending'"],
    ['SELECT count(*) AS waiting, count(*) FILTER (WHERE due_at <= $1) AS due FROM delivery WHERE holder IS NULL', now],
    ['SELECT d.accepted_at FROM work w JOIN dispatch d USING (ref) ORDER BY w.ref LIMIT 1'],
    ["SELECT value FROM meta WHERE key = 'last_error'"],
  );
  const tallies = talliesOf(tallyRows);
  const runs = tallies.reduce((sum, { pending }) => sum + pending, 0) - groups.open;
  return {
    tallies: shownTallies(tallies, blocked),
    backlog: {
      runs,
      deliveries: deliveries.due,
      deliveries_delayed: deliveries.waiting - deliveries.due,
      groups: groups.open,
    },
    oldest_open_at: oldest?.accepted_at ?? null,
    last_error: decodeOr<LastError | null>(error?.value, isLastError, null),
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
    const all = readTargets(targets).map(({ target }) => target);
    const needed = n === null ? (all.length === 0 ? [null] : all) : [all[n] ?? null];
    for (const target of needed) {
      const name = JSON.stringify([profile, route, job, target]);
      found.set(name, { profile, route, job, target, count: (found.get(name)?.count ?? 0) + count });
    }
  }
  return [...found].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, work]) => work);
}

const DEAD_WORK =
  `SELECT d.profile, d.route, d.job, ${JOB_NAME}, count(*) AS count, min(e.finished_at) AS since FROM ended e JOIN dispatch d USING (ref) ` +
  "WHERE e.state = 'dead' GROUP BY 1, 2, 3 ORDER BY 1, 2, 3";

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

type JobQueries = Pick<PgQueries, 'jobs' | 'jobs_version' | 'job_ticks'>;
type VersionRow = { readonly value: string };

const VERSION: Statement = ["SELECT value FROM meta WHERE key = 'jobs_version'"];
const TICKS = 'SELECT due_at, outcome, ref, missed FROM job_tick WHERE job = $1 ORDER BY due_at DESC LIMIT $2';

const jobQueries = (ask: AskSnapshot, refused: RefusedRows): JobQueries => ({
  async jobs() {
    const [version = [], rows = [], states = []] = await ask<
      [VersionRow[], DatabaseJob[], (JobState & { job: string })[]]
    >(
      VERSION,
      ['SELECT id, profile, name, body FROM job ORDER BY name COLLATE "C", id'],
      ['SELECT job, paused, paused_until, "cursor", signature, ref FROM job_state'],
    );
    return {
      version: Number(version[0]?.value ?? 0),
      records: readJobs(rows, refused),
      states: Object.fromEntries(states.map(({ job, ...state }) => [job, state])),
    };
  },
  async jobs_version() {
    const [rows = []] = await ask<[VersionRow[]]>(VERSION);
    return Number(rows[0]?.value ?? 0);
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
  // A gateway that stops ends its lease itself, so both instants are from one statement.
  "FROM (SELECT *, abs(extract(epoch FROM ended_at - until)) < 0.001 AS has_stopped FROM node WHERE until > '-infinity') n, " +
  '(SELECT clock_timestamp() AS now) t ' +
  `WHERE (n.until > t.now AND n.ended_at IS NULL) OR ${IS_LATEST} ORDER BY n.id`;

async function readNodes(ask: AskSnapshot): Promise<readonly StoredNode[]> {
  const [rows = []] = await ask<[StoredNode[]]>([NODES]);
  return rows;
}

const ADD =
  `INSERT INTO figure (minute, ${FIGURES.join(', ')}) VALUES ($1, ${FIGURES.map((_, at) => `$${at + 2}`).join(', ')}) ` +
  `ON CONFLICT (minute) DO UPDATE SET ${addedFigures('greatest')}`;
const SUMS =
  `SELECT slot, ${FIGURES.map((name) => `${name}::bigint`).join(', ')} FROM (SELECT minute / $1::bigint * $1::bigint AS slot, ` +
  `${FIGURE_SUMS.join(', ')} FROM figure WHERE minute >= $2 GROUP BY 1) sums ORDER BY slot`;

/** Adds the figures of a minute over all gateways. */
export async function addFigures({ db }: Scope, { minute, figures }: AddFigures): Promise<null> {
  await db.change(ADD, [minute, ...FIGURES.map((name) => figures[name])]);
  await db.change('DELETE FROM figure WHERE minute < $1', [forgottenBefore(minute)]);
  return null;
}

async function sumFigures(
  ask: AskSnapshot,
  { since, slot_ms }: Extract<Query, { kind: 'figures' }>,
): Promise<readonly FigureSum[]> {
  return (await ask<[FigureSum[]]>([SUMS, slot_ms, since]))[0];
}

/** A dynamic job of a shared database. An invalid row does not run, and is reported. */
export interface DatabaseJob {
  readonly id: string;
  readonly profile: string;
  readonly name: string;
  /** JSON of a JobRecord. */
  readonly body: string;
}

/** Null for an invalid row: a field is invalid, or the columns differ from the body. */
export function readRecord({ id, profile, name, body }: DatabaseJob): JobRecord | null {
  const record = storedJob(body);
  return record?.id === id && record.profile === profile && record.name === name ? record : null;
}

function readJobs(rows: readonly DatabaseJob[], refused: RefusedRows): readonly JobRecord[] {
  const invalid = rows.filter((row) => readRecord(row) === null);
  const named = invalid.map(({ name, id }) => `${JSON.stringify(name)} (${id})`).join(', ');
  refused.note(
    'jobs',
    invalid.length === 0
      ? null
      : `invalid jobs in the database do not run: ${named}; replace each: hookwright job create`,
  );
  return rows.flatMap((row) => readRecord(row) ?? []);
}
