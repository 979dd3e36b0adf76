/**
 * Decodes stored dispatches into list summaries, complete dispatches, the events of a burst, and the turns of a
 * session.
 */

import type { LastAction } from '../../schemas/built/operations/types.ts';
import { isDispatch } from '../../schemas/built/rows/Dispatch.ts';
import { isProgramEnd } from '../../schemas/built/rows/ProgramEnd.ts';
import { isStep } from '../../schemas/built/rows/Step.ts';
import type { Dispatch } from '../../schemas/generated/types.ts';
import type { Store } from './contract.ts';
import { decode, decodeOr, isCount, isInstant, isOneOf, isText, orNull, StoreDamaged } from './decode.ts';
import type { BusySession, DispatchSummary, Query, SaidTurn, StoredDispatch } from './queries.ts';
import { MOST_TURNS } from './queries.ts';
import type { GuardRow, Ref, SessionKey } from './records.ts';
import { sessionName } from './records.ts';
import type { FinalState, ProgramEnd, ShownState, Step } from './states.ts';
import { DISPATCH_STATES } from './states.ts';
import { runDuration } from './timeline.ts';
import { toUsage } from './usage.ts';
import type { Wait, WaitColumns } from './waits.ts';
import { IS_BLOCKED, WAIT_COLUMNS, waitOf } from './waits.ts';

/**
 * The part of a dispatch that lists show. `session`: the session in which it takes turns. Older rows have four or six members.
 */
export type Head = readonly [
  event: string,
  delivery_id: string,
  replay_of: string | null,
  superseded: number,
  agent?: string | null,
  session?: string | null,
  targets?: string,
];

function isHead(value: unknown): boolean {
  if (!Array.isArray(value)) return false;
  const [event, id, replay_of, superseded, agent = null, session = null, targets = ''] = value as readonly unknown[];
  return [event, id, targets].every(isText) && [replay_of, agent, session].every(orNull(isText)) && isCount(superseded);
}

type OfHead = 'event' | 'delivery_id' | 'replay_of' | 'agent' | 'session' | 'targets';

/** The part of a head that contains this delivery id, for a search in SQL. An agent may have the same name. */
export const inHead = (delivery_id: string): string => `,${JSON.stringify(delivery_id)},`;

/** The text of a head that contains this text in a member. */
export const textInHead = (text: string): string => JSON.stringify(text).slice(1, -1);

/** SQL: not a message of the gateway itself. */
export const HAS_OWNER = '(d.route IS NOT NULL OR d.job IS NOT NULL)';

/** A row of a list, as stored. */
export type ListedRow = Omit<DispatchSummary, OfHead | 'duration_ms' | 'usage' | keyof Wait | keyof WaitColumns> &
  WaitColumns & {
    /** JSON. */
    readonly head: string;
    /** JSON [input tokens, output tokens, cost]. */
    readonly usage: string;
  };

/**
 * SQL: true if an open dispatch `w` has this state. Uses literals, because SQLite uses a partial index only for them.
 */
export function hasOpenState(state: Exclude<ShownState, FinalState>): string {
  if (state === 'waiting') return `w.ref IN (SELECT x.ref FROM delivery x WHERE ${IS_BLOCKED})`;
  const others =
    state === 'delivering' ? ` AND NOT EXISTS (SELECT 1 FROM delivery x WHERE x.ref = w.ref AND ${IS_BLOCKED})` : '';
  return `w.state = '${state}'${others}`;
}

/** SQL: of a job that is stored, of the table `dispatch d`. */
export const JOB_NAME = '(SELECT j.name FROM job j WHERE j.id = d.job) AS job_name';

/** SQL: the number of dispatches of each route with a blocked delivery. */
export const COUNT_BLOCKED =
  'SELECT d.profile, d.route, count(DISTINCT x.ref) AS count FROM delivery x JOIN dispatch d USING (ref) ' +
  `WHERE ${IS_BLOCKED} GROUP BY 1, 2`;

/**
 * SQL: the columns of a `ListedRow`, of the tables `dispatch d` and `work w`.
 * @param outcome the columns of its progress: `state`, `started_at`, `answered_at`, `finished_at` and `reason`
 * @param jsonArray the engine's function
 */
export const listedColumns = (
  outcome: readonly string[],
  jsonArray: 'json_array' | 'json_build_array',
): readonly string[] => [
  ...['ref', 'id', 'profile', 'route', 'job', 'mode', 'accepted_at', 'head'].map((name) => `d.${name}`),
  JOB_NAME,
  ...outcome,
  ...WAIT_COLUMNS,
  `(SELECT CAST(${jsonArray}(sum(input_tokens), sum(output_tokens), sum(cost)) AS text) FROM usage u WHERE u.ref = d.ref) AS usage`,
  'CASE WHEN w.session IS NOT NULL THEN (SELECT 1 + count(*) FROM (SELECT 1 FROM work b ' +
    `WHERE b.session = w.session AND b.turn < w.turn LIMIT ${MOST_TURNS - 1}) earlier) END AS turn`,
];

export type BusyRow = ListedRow & Pick<BusySession, 'waiting'>;

/** SQL: the additional column of a `BusyRow`; and whether the run has the turn in its session. */
export const WAITING_RUNS =
  "(SELECT count(*) FROM work b WHERE b.session = w.session AND b.blocked_by = 'session') AS waiting";
export const HAS_TURN = "w.session IS NOT NULL AND coalesce(w.blocked_by, 'newer') = 'newer'";

/** SQL: the columns of a `BlockedRow`, of the tables `delivery x` and `dispatch d`. */
export const BLOCKED_COLUMNS: readonly string[] = [
  'x.ref',
  'x.n AS "index"',
  'd.id',
  'd.profile',
  'd.route',
  'd.job',
  'x.set_at AS since',
  'x.due_at AS expires_at',
  'x.blocked_by',
  'x.told_at',
];

export type StoredRow = ListedRow & {
  readonly max_concurrent: number | null;
  /** JSON. */
  readonly body: string;
  readonly answer: string | null;
  /** JSON. */
  readonly program: string | null;
};

const DAMAGED = 'damaged in the store';
const NO_HEAD: Head = [DAMAGED, DAMAGED, null, 0];
const DAMAGED_END: ProgramEnd = { exit_code: null, signal: null, stderr: DAMAGED };
const instantOf = (value: number | null): number | null => (isInstant(value) ? value : null);
const textOf = (value: unknown): string => (isText(value) ? (value as string) : DAMAGED);
const nameOf = (value: unknown): string | null => (value === null ? null : textOf(value));

const isState = isOneOf(...DISPATCH_STATES);

/**
 * Never throws: a list shows a damaged value as such, and the other rows unchanged. Lists are read every second while
 * pages are open: each field is named, because a spread costs several times as much.
 */
export function readListed(row: ListedRow): DispatchSummary {
  const head = decodeOr<Head>(row.head, isHead, NO_HEAD);
  const [event, delivery_id, replay_of, , agent = null, session = null, targets = ''] = head;
  const reason = row.reason === null ? null : decodeOr<string>(row.reason, isText, DAMAGED);
  const isKnown = isState(row.state);
  const { waits_for, waits_since, ready_at } = waitOf(row);
  const started_at = instantOf(row.started_at);
  const answered_at = instantOf(row.answered_at);
  const finished_at = instantOf(row.finished_at);
  return {
    ref: row.ref,
    id: textOf(row.id),
    profile: textOf(row.profile),
    route: nameOf(row.route),
    job: nameOf(row.job),
    job_name: nameOf(row.job_name),
    mode: row.mode,
    event,
    delivery_id,
    accepted_at: instantOf(row.accepted_at) ?? 0,
    state: !isKnown ? 'dead' : row.state === 'delivering' && waits_for !== null ? 'waiting' : row.state,
    started_at,
    answered_at,
    finished_at,
    duration_ms: runDuration({ started_at, answered_at, finished_at }),
    reason: isKnown ? reason : DAMAGED,
    replay_of,
    agent,
    session,
    targets,
    turn: row.turn,
    usage: toUsage(...decodeOr<[unknown?, unknown?, unknown?]>(row.usage, Array.isArray, [])),
    waits_for,
    waits_since: instantOf(waits_since),
    ready_at: instantOf(ready_at),
  };
}

export function readBusy(row: BusyRow): BusySession {
  const run = readListed(row);
  return { session: run.session ?? '', run, waiting: row.waiting };
}

/** Columns that repeat values of the body. */
const REPEATED = ['id', 'profile', 'route', 'job', 'mode', 'accepted_at'] as const;

/** Decodes a complete dispatch from its stored row and steps. @throws StoreDamaged */
export function readStored(
  { max_concurrent, body, answer, program, ...row }: StoredRow,
  steps: readonly string[],
): StoredDispatch {
  const of = `of delivery ${textOf(row.id)}`;
  const stored = decode<Dispatch>(body, isDispatch, `the body ${of}`);
  const [event, delivery_id, , superseded] = decode<Head>(row.head, isHead, `the head ${of}`);
  const other = REPEATED.find((name) => stored[name] !== row[name]);
  if (other !== undefined) throw new StoreDamaged(`${other} ${of} is damaged`);
  if (!orNull(isCount)(max_concurrent)) throw new StoreDamaged(`max_concurrent ${of} is damaged`);
  if (stored.event !== event || stored.delivery_id !== delivery_id) throw new StoreDamaged(`the head ${of} is damaged`);
  return {
    ...readListed(row),
    dispatch: { ...stored, superseded },
    max_concurrent,
    answer: answer === null ? null : decode<string>(answer, isText, `the answer ${of}`),
    // For people only: damage here must not stop a delivery.
    program: program === null ? null : decodeOr<ProgramEnd>(program, isProgramEnd, DAMAGED_END),
    steps: steps.map((step) => decode<Step>(step, isStep, `a step ${of}`)),
  };
}

/*
 * Bursts that keep all events (`coalesce.keep: all`). Each event of a group stays stored as it was accepted, with its
 * line of the list. The column `burst` of its dispatch is the number of the group's first event. The list is added to
 * the prompt of the latest event when that is read, so that the cost of accepting an event does not depend on how many
 * came before.
 */
/** Maximum text in a list, in UTF-16 units, besides its newest event. */
const MOST_TEXT = 200_000;

/** The number of earlier events of its burst that are needed to complete the dispatch. */
export const earlierNeeded = ({ burst }: Dispatch): number => (burst == null ? 0 : burst.max_events - 1);

/**
 * Returns the dispatch with the list of its burst in its prompt.
 * @param earlier the stored bodies of the earlier events, newest first; damaged or removed ones are only counted
 */
export function fillEvents(dispatch: Dispatch, earlier: readonly string[]): Dispatch {
  const { burst, superseded, prompt } = dispatch;
  if (burst == null) return dispatch;
  let left = MOST_TEXT;
  const before: string[] = [];
  for (const body of earlier.slice(0, burst.max_events - 1)) {
    const line = lineFor(burst, decodeOr<Dispatch | null>(body, isDispatch, null)?.burst);
    if (line === null) continue;
    left -= line.length;
    if (left < 0) break;
    before.unshift(line);
  }
  const list = [...countLine(superseded - before.length), ...before, burst.line].join('\n');
  const ends = [...burst.at, prompt.length];
  const parts = ends.map((end, index) => prompt.slice(ends[index - 1] ?? 0, end));
  return { ...dispatch, prompt: parts.join(list), burst: null };
}

type BurstEntry = NonNullable<Dispatch['burst']>;

/**
 * The line of another event with the markers of this one, because the note at the start of the prompt names their id.
 */
function lineFor({ marker }: BurstEntry, other: Dispatch['burst'] | undefined): string | null {
  if (other == null) return null;
  return marker === undefined || other.marker === undefined ? other.line : other.line.replaceAll(other.marker, marker);
}

function countLine(count: number): readonly string[] {
  if (count <= 0) return [];
  return [`[${count === 1 ? '1 earlier event is' : `${count} earlier events are`} not listed.]`];
}

/*
 * The turns of a session: the prompts of its runs and their answers, for agents that do not store conversations, and
 * for `session show`. They are read from the dispatches themselves, so that removed ones do not appear again.
 */

/** A row with an answer; the texts as stored. */
export interface SaidRow {
  readonly ref: Ref;
  /** JSON. */
  readonly body: string;
  readonly answer: string;
  readonly answered_at: number;
}

/** A decoded `SaidRow`. The prompt of a burst lacks its list until its earlier events are known (`fillEvents`). */
interface TurnRow {
  readonly ref: Ref;
  readonly dispatch: Dispatch;
  readonly answer: string;
  readonly answered_at: number;
}

/** The guard's row of a session that was reset. */
export const resetRow = (of: SessionKey): Pick<GuardRow, 'kind' | 'key'> => ({ kind: 'session', key: sessionName(of) });

/** The body of that row. @param last the number of the latest dispatch to leave out @param action who has reset it, and when */
export const resetBody = (last: Ref, action?: Omit<LastAction, 'did'>): string =>
  JSON.stringify({ last, ...(action === undefined ? {} : { did: 'reset', ...action }) });

function lastReset(body: string | undefined): Ref {
  const { last } = decodeOr<{ readonly last?: unknown }>(body ?? '{}', (value) => value !== null, {});
  return isCount(last) ? (last as Ref) : 0;
}

/**
 * Decodes the rows since the last reset, without damaged ones.
 * @param rows the latest ones of the session
 * @param reset the body of its `resetRow`
 */
export function turnsOf(rows: readonly SaidRow[], reset: string | undefined): readonly TurnRow[] {
  const after = lastReset(reset);
  return rows.flatMap(({ ref, body, answer: text, answered_at }): readonly TurnRow[] => {
    const dispatch = ref > after ? decodeOr<Dispatch | null>(body, isDispatch, null) : null;
    const answer = decodeOr(text, isText, '');
    return dispatch === null || answer === '' ? [] : [{ ref, dispatch, answer, answered_at }];
  });
}

/** The latest turns of these rows that are within the limits, oldest first. */
export function saidIn(
  rows: readonly TurnRow[],
  { turns, chars }: Pick<Extract<Query, { kind: 'said' }>, 'turns' | 'chars'>,
): readonly SaidTurn[] {
  const found = rows.map(({ dispatch: { id, accepted_at, prompt }, answer, answered_at }): SaidTurn => {
    return { id, accepted_at, answered_at, prompt, answer };
  });
  // The event that opened a group may be older than an event that ran first.
  const latest = found.sort((a, b) => b.answered_at - a.answered_at).slice(0, turns);
  let left = chars;
  const fits = ({ prompt, answer }: SaidTurn): boolean => {
    left -= [...prompt].length + [...answer].length;
    return left >= 0;
  };
  const cut = latest.findIndex((turn) => !fits(turn));
  return (cut < 0 ? latest : latest.slice(0, cut)).reverse();
}

/** Maximum number of attempts while others reset the same session. */
const ATTEMPTS = 5;

/**
 * Resets a session: its agents no longer get any turn accepted so far. The dispatches stay unchanged.
 * @param now Unix ms
 * @returns false: no dispatch of the session is stored
 */
export async function resetSession(store: Store, of: SessionKey, now: number, by: string): Promise<boolean> {
  const { key, kind } = resetRow(of);
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const [said, busy, rows] = await Promise.all([
      store.read({ kind: 'said', of, turns: 1, chars: Number.MAX_SAFE_INTEGER }),
      store.read({ kind: 'sessions', profile: of.profile }),
      store.read({ kind: 'guard_rows', of: kind }),
    ]);
    const expect = rows.find((row) => row.key === key)?.body ?? null;
    if (said.length === 0 && expect === null && !busy.some(({ session }) => session === of.session)) return false;
    const [latest] = await store.read({ kind: 'list', filter: { limit: 1 } });
    const body = resetBody(latest?.ref ?? 0, { by, at: now });
    const change = { row: { kind, key }, expect, body, expires_at: null, dispatch: null, now } as const;
    if (await store.write({ kind: 'put_guard', ...change })) return true;
  }
  throw new Error(`other processes keep changing the session ${of.session}`);
}
