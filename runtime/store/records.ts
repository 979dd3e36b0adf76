/** Identifiers of stored rows, and the small records of the store: jobs, rows of the guard, pauses, usage. */
import type { GUARD_KINDS } from '../../base/names.ts';
import { realTarget, SPEC_NAMES } from '../../base/spec-names.ts';
import type {
  ClaimKey,
  FireJob,
  GuardRow,
  JobRecord,
  JobState,
  Pause,
  PausedRoute,
  PauseJob,
  PutJob,
  RemoveJob,
  StoredClaim,
  WatchJob,
} from '../../schemas/built/operations/types.ts';
import { isJobRecord } from '../../schemas/built/rows/JobRecord.ts';
import { isPause } from '../../schemas/built/rows/Pause.ts';
import type { Dispatch } from '../../schemas/generated/types.ts';
import type { ValueCheck } from './decode.ts';
import { decodeOr, isText } from './decode.ts';
import type { OverLimit } from './run-limits.ts';

export type {
  ClaimKey,
  StoredClaim,
} from '../../schemas/built/operations/types.ts';

/** The number of a stored dispatch: it grows in the order of storing and is never reused. */
export type Ref = number;

/** Identifies the process that works on a row; unique for each start of a gateway. */
export type Holder = string;

/** The name of a claim, as JSON, so that neither a NUL nor a separator in untrusted text can forge another name. */
export const claimKey = ({ profile, route, delivery_id }: ClaimKey): string =>
  JSON.stringify([profile, route, delivery_id]);

/** The names of a claim: of its delivery id, and of its replay guard. */
export function claimKeys(of: ClaimKey | null | undefined): readonly string[] {
  if (of === null || of === undefined) return [];
  const { guard } = of;
  return guard === undefined ? [claimKey(of)] : [claimKey(of), claimKey({ ...of, delivery_id: guard })];
}

/** The names of a claim, each with its expiry. */
export const claimedNames = (claim: StoredClaim | null | undefined): readonly (readonly [string, number])[] =>
  claimKeys(claim).map((name, index) => [name, (index === 1 ? claim?.guard_expires_at : claim?.expires_at) ?? 0]);

/** The lane of a route's runs, or of the deliveries to a target, as JSON, so that no part can forge another lane. */
export const laneKey = (profile: string, name: string | null): string => JSON.stringify([profile, name]);

/**
 * The lane of the runs of a route with an agent: the lane of the route and, unless it is the default agent, a line with
 * its name.
 */
export const runLane = (profile: string, route: string | null, agent: string | null): string =>
  agent === null ? laneKey(profile, route) : `${laneKey(profile, route)}\n${agent}`;

/** The lane of the route, by which runs are counted and limited. JSON has no line feed. */
export function routeLane(lane: string): string {
  const end = lane.indexOf('\n');
  return end < 0 ? lane : lane.slice(0, end);
}

/** SQL that renames the lanes of an earlier version, which used the specification's names of targets. */
export const RENAME_LANES = Object.entries(SPEC_NAMES.target)
  .map(([token, name]) => [`,"${token}"]`, `,"${name}"]`])
  .map(([end, now]) => `UPDATE delivery SET lane = replace(lane, '${end}', '${now}') WHERE lane LIKE '%${end}';`)
  .join('\n');

interface LaneParts {
  readonly profile: string;
  /** The name of the route, or of the target. */
  readonly name: string | null;
  /** Null: the default agent. */
  readonly agent: string | null;
}

const isPair: ValueCheck = (value) =>
  Array.isArray(value) && isText(value[0]) && (value[1] === null || isText(value[1]));

export function laneParts(lane: string): LaneParts {
  const route = routeLane(lane);
  // Anyone who can write to the database can write a lane; the run's body says where it runs.
  const [profile, name] = decodeOr<readonly [string, string | null]>(route, isPair, ['', null]);
  return { profile, name, agent: route.length === lane.length ? null : lane.slice(route.length + 1) };
}

export interface SessionKey {
  readonly profile: string;
  /** Session id. */
  readonly session: string;
}

/** The name of a session, as JSON. */
export const sessionName = ({ profile, session }: SessionKey): string => laneKey(profile, session);

/** The session whose runs take turns, as JSON; null for a dispatch that waits for no other. */
export const turnKey = (of: Pick<Dispatch, 'profile' | 'session' | 'session_key'>): string | null =>
  of.session_key === undefined || of.session_key === null ? null : sessionName(of);

/*
 * The rows of the guard: small rows by kind and key, whose bodies are JSON. The store compares and replaces them,
 * together with the message that reports the change. A module counts runs in them (run-limits.ts).
 */

export type { GuardRow, PutGuard } from '../../schemas/built/operations/types.ts';

export type GuardKind = (typeof GUARD_KINDS)[number];

/** The end of the body of a row that counts runs if its key is not paused. */
export const NOT_PAUSED = '"until":null}';

export const guardKey = ({ kind, key }: Pick<GuardRow, 'kind' | 'key'>): string => JSON.stringify([kind, key]);

/** Decodes a stored row; returns none if its key is damaged. @param key JSON */
export function readGuard(kind: GuardKind, key: string, body: string): readonly GuardRow[] {
  const name = decodeOr<string | null>(key, isText, null);
  return name === null ? [] : [{ kind, key: name, body }];
}

/*
 * The records of scheduled jobs, and all changes to them.
 *
 * A job has at most one run at a time and at most one run for each instant. Both are decided inside the transaction
 * that stores the run's dispatch, so neither a crash nor a second process can interfere. The `cursor` is the latest
 * handled instant. Instants before it never fire, whatever the clock does.
 */

export type {
  FireJob,
  JobRecord,
  JobState,
  JobTick,
  PauseJob,
  PutJob,
  RemoveJob,
  WatchJob,
} from '../../schemas/built/operations/types.ts';

/** Decodes a job; null if it is damaged. An earlier version stored the specification's names of targets. */
export function storedJob(json: unknown): JobRecord | null {
  const job = decodeOr<JobRecord | null>(json, isJobRecord, null);
  return job && { ...job, deliver: job.deliver.map((one) => ({ ...one, target: realTarget(one.target) })) };
}

/** Records an instant at which a job was due, and fires the job. */
export interface TickJob extends Omit<FireJob, 'kind' | 'dispatch' | 'claim' | 'even_paused'> {
  readonly kind: 'tick_job';
  readonly due_at: number;
  /** Null: the instant was missed, and the job does not fire. */
  readonly dispatch: Dispatch | null;
  readonly missed: number;
}

/** Removes at most `limit` records of instants before `before` (Unix ms). */
export interface ForgetTicks {
  readonly kind: 'forget_ticks';
  readonly before: number;
  readonly limit: number;
}

export type JobMutation = PutJob | RemoveJob | PauseJob | WatchJob | TickJob | FireJob | ForgetTicks;

export interface JobMutationResults {
  /** `claimed`: the instant was already handled. */
  tick_job:
    | { readonly kind: 'stored'; readonly ref: Ref }
    | { readonly kind: 'claimed' | 'missed' | 'running' | 'paused' }
    | OverLimit;
  /** Number removed. */
  forget_ticks: number;
}

export const NO_STATE: JobState = { paused: null, paused_until: null, cursor: null, signature: null, ref: null };

/** Unix ms at which a user's pause expires or has expired; null: it does not expire, or there is none. */
export const pauseEnd = ({ paused, paused_until }: Pick<JobState, 'paused' | 'paused_until'>): number | null =>
  paused === true ? paused_until : null;

/** True if the job is paused at `now`, by a user or as configured. */
export function isJobPaused(
  state: Pick<JobState, 'paused' | 'paused_until'>,
  configured: boolean,
  now: number,
): boolean {
  const end = pauseEnd(state);
  return state.paused === null || (end !== null && end <= now) ? configured : state.paused;
}

/*
 * Paused routes: their accepted events are stored, and none of their work is taken until the pause ends. A pause is a
 * row of kind `pause` of the guard, by the lane of the route. It ends when the row expires.
 */

export type {
  Pause,
  PausedRoute,
  PauseRoute,
} from '../../schemas/built/operations/types.ts';

export const pauseOfRoute = (profile: string, route: string | null): Pick<GuardRow, 'kind' | 'key'> => ({
  kind: 'pause',
  key: laneKey(profile, route),
});

/** The pause in effect at `now`. @param body JSON */
export function readPause(body: string | undefined, now: number): Pause | null {
  const pause = decodeOr<Pause | null>(body, isPause, null);
  return pause === null || (pause.until !== null && pause.until <= now) ? null : pause;
}

/** The routes that are paused at `now`. @param rows of kind `pause` */
export function pausedRoutes(rows: readonly GuardRow[], now: number): readonly PausedRoute[] {
  return rows.flatMap(({ key, body }) => {
    const pause = readPause(body, now);
    const { profile, name } = laneParts(key);
    return pause === null || name === null ? [] : [{ profile, route: name, ...pause }];
  });
}
