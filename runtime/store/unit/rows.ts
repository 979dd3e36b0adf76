/**
 * The rows that a unit of work reads and changes, for all engines. Times are Unix ms; untrusted texts are stored as
 * JSON.
 */
import type { DispatchHead, HeadTarget } from '../group-commit.ts';
import type { GuardKind, Ref } from '../records.ts';
import type { DispatchState, Step } from '../states.ts';
import type { TallyColumn } from '../tally.ts';
import type { RunUsage } from '../usage.ts';
import type { BlockedBy } from '../waits.ts';

/** An accepted dispatch; it never changes. */
export interface DispatchRow
  extends Pick<DispatchHead, 'id' | 'profile' | 'route' | 'job' | 'mode' | 'accepted_at' | 'targets'> {
  readonly ref: Ref;
  readonly max_concurrent: number | null;
  /** The session in which it takes or took turns, to find its earlier turns; null: none. */
  readonly session: string | null;
  /** The number of the first event of its burst, if the burst keeps all events; otherwise null. */
  readonly burst: Ref | null;
  /** JSON, see `Head`. */
  readonly head: string;
  /** JSON of the dispatch. */
  readonly body: string;
}

/** The progress of a dispatch that has not ended. */
export interface WorkRow {
  readonly ref: Ref;
  /** The lane of its runs, see `runLane`. */
  readonly lane: string;
  state: DispatchState;
  /** When its run, or the end of its group, is due; and when that was set, or its turn came. */
  due_at: number;
  set_at: number;
  /** The process that runs or delivers it. */
  holder: string | null;
  started_at: number | null;
  answered_at: number | null;
  /** JSON. */
  reason: string | null;
  /** Failed runs. */
  failed: number;
  /** Number of steps. */
  steps: number;
  /** The group in which it waits, when that began, and how many events it has replaced there. */
  readonly group_key: string | null;
  readonly first_at: number | null;
  readonly superseded: number;
  /** The session in which it has or awaits its turn, until its run has ended. */
  session: string | null;
  /** Its position there: the number of its group's first event, or its own number. */
  readonly turn: Ref;
  /** What blocks it: the earlier runs of its session. Of a run in progress: a newer event replaces it. */
  blocked_by: BlockedBy | null;
}

/** The other columns of work that waits for nothing, for a row whose table lacks them. */
export const PLAIN_WORK: Omit<WorkRow, 'ref' | 'lane' | 'state' | 'due_at' | 'set_at' | 'turn'> = {
  holder: null,
  started_at: null,
  answered_at: null,
  reason: null,
  failed: 0,
  steps: 0,
  group_key: null,
  first_at: null,
  superseded: 0,
  session: null,
  blocked_by: null,
};

export interface EndedRow {
  readonly row: WorkRow;
  readonly finished_at: number;
}

/** A delivery that has not ended. */
export interface DeliveryRow {
  readonly ref: Ref;
  readonly n: number;
  /** JSON [profile, target]. */
  readonly lane: string;
  due_at: number;
  set_at: number;
  holder: string | null;
  /** What it waits for; null: nothing, or a person has released it. Still blocked when it is due: it ends unsent. */
  blocked_by: BlockedBy | null;
  /** When a message has reported it to people; null: not yet, or it was never blocked. */
  told_at: number | null;
}

export interface StepRow {
  readonly ref: Ref;
  /** The lane of its dispatch. */
  readonly lane: string;
  /** From 1. */
  readonly n: number;
  readonly step: Step;
}

/** The usage of a run. */
export interface UsageRow extends RunUsage {
  readonly ref: Ref;
  /** Unix ms. */
  readonly at: number;
}

export interface AnswerRow {
  readonly lane: string;
  /** JSON. */
  readonly text: string;
  /** JSON of the end of the program that answered; null: the agent was not a program. */
  readonly program: string | null;
}

/** The state of a job. */
export interface JobRow {
  readonly job: string;
  readonly paused: boolean | null;
  readonly paused_until: number | null;
  cursor: number | null;
  /** The latest run of the job. */
  ref: Ref | null;
}

/** The latest dispatch of a message, by its delivery id. */
export interface MessageRow {
  readonly ref: Ref;
  /** How long its id is claimed once it is delivered, in ms. */
  readonly ttl_ms: number;
}

/** A row of the guard to replace or remove. */
export interface GuardChange {
  readonly kind: GuardKind;
  readonly key: string;
  /** JSON; null: removed. */
  readonly body: string | null;
  readonly expires_at: number | null;
  /** True if it was stored before. */
  readonly known: boolean;
}

/** The changes of a further attempt of the sender to a stored dispatch. */
export interface BodyChange extends Pick<DispatchRow, 'ref' | 'head' | 'targets' | 'body'> {
  readonly lane: string;
  /** The number of bytes by which the body grows. */
  readonly grown: number;
}

export type HeadRow = Pick<DispatchRow, 'id' | 'profile' | 'route' | 'job'>;

export type CountChange = readonly [lane: string, column: TallyColumn, by: number];

/** Rows by key, as stored and changed since. */
export interface Rows<K, V> {
  get(key: K): V | undefined;
  set(key: K, row: V): unknown;
  delete(key: K): unknown;
}

/** The rows of one unit of work. An engine loads all of them in advance, or each at its first use. */
export interface UnitRows {
  /** The number of the next dispatch. */
  readonly nextRef: () => Ref;
  /** The key as the engine stores it. @param json a key that is a JSON list, so that no value can forge another key */
  readonly keyOf: (json: string) => string;
  /** The expiry of each known delivery id. */
  readonly claims: Rows<string, number>;
  /** The maximum number of concurrent runs in a lane. */
  readonly limits: Rows<string, number | null>;
  readonly work: Rows<Ref, WorkRow>;
  /** Dispatches that have ended. */
  readonly ended: Rows<Ref, WorkRow>;
  /** By the key of the claim. */
  readonly messages: Rows<string, MessageRow>;
  /** The latest dispatch of each open group, which is in `work`. */
  readonly groups: Rows<string, Ref>;
  /** The earliest rows of a session, in order; at least one more than this unit can remove. */
  readonly sessions: Rows<string, readonly WorkRow[]>;
  /** Loads all rows of a session that an event with `on_newer` joins. */
  readonly wholeSession: (key: string) => readonly WorkRow[];
  /** The open deliveries of a dispatch, by index. */
  readonly deliveries: Rows<Ref, Map<number, DeliveryRow>>;
  readonly jobs: Rows<string, JobRow>;
  /** The bodies of the rows of the guard, by `keyOf(guardKey(…))`. */
  readonly guard: Rows<string, string>;
  readonly headOf: (ref: Ref) => HeadRow | undefined;
  readonly targetsOf: (ref: Ref) => readonly HeadTarget[];
  /** JSON of the dispatch. */
  readonly bodyOf: (ref: Ref) => string | undefined;
  /** The stored steps, in order. */
  readonly stepsOf: (ref: Ref) => readonly Step[];
  /** True if the instant of a job is recorded. */
  readonly hasTick: (job: string, due_at: number) => boolean;
}
