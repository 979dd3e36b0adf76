/** Turns the stored rows of dispatches into summaries for lists, and into complete dispatches. */
import type { Dispatch } from '../../schemas/generated/types.ts';
import type { Head } from './decode.ts';
import {
  decode,
  decodeOr,
  isCount,
  isDispatch,
  isHead,
  isInstant,
  isOneOf,
  isProgramEnd,
  isStep,
  isText,
  orNull,
  StoreDamaged,
} from './decode.ts';
import type { Step } from './mutations.ts';
import type { DispatchSummary, StoredDispatch } from './queries.ts';
import type { ProgramEnd } from './states.ts';
import { DISPATCH_STATES } from './states.ts';
import { toUsage } from './usage.ts';

type OfHead = 'event' | 'delivery_id' | 'replay_of' | 'agent' | 'session';

export type ListedRow = Omit<DispatchSummary, OfHead | 'usage' | 'waits_for' | 'waits_since'> & {
  /** JSON. */
  readonly head: string;
  /** JSON [input tokens, output tokens, cost]. */
  readonly usage: string;
  /** As in a `WorkRow`; null: its work has ended. */
  readonly lane: string | null;
  readonly due_at: number | null;
  readonly waits_for: 'session' | null;
  readonly waits_since: number | null;
  /** Since when a delivery waits for a person; null: none does. */
  readonly asked_at: number | null;
};

/** Whether a pending run waits for the others of its agent. */
export type IsHeldUp = (row: Pick<ListedRow, 'lane' | 'due_at'>) => boolean;

export type StoredRow = ListedRow & {
  readonly max_concurrent: number | null;
  /** JSON. */
  readonly body: string;
  readonly answer: string | null;
  /** JSON. */
  readonly program: string | null;
};

const DAMAGED = 'damaged in the store';
const DAMAGED_END: ProgramEnd = { exit_code: null, signal: null, stderr: DAMAGED };
const instantOf = (value: number | null): number | null => (isInstant(value) ? value : null);
const textOf = (value: unknown): string => (isText(value) ? (value as string) : DAMAGED);
const nameOf = (value: unknown): string | null => (value === null ? null : textOf(value));

/** Never throws: in a list, a damaged value is shown as such, and the other rows as they are. */
export function readListed(
  { head, usage, lane, due_at, asked_at, ...row }: ListedRow,
  isHeldUp: IsHeldUp,
): DispatchSummary {
  const found = decodeOr<Head>(head, isHead, [DAMAGED, DAMAGED, null, 0]);
  const [event, delivery_id, replay_of, , agent = null, session = null] = found;
  const isState = isOneOf(...DISPATCH_STATES)(row.state);
  const stored = row.reason === null ? null : decodeOr<string>(row.reason, isText, DAMAGED);
  // One that is under way has waited for its budget, and does not any more.
  const reason = stored === 'budget' && row.state === 'running' ? null : stored;
  const { started_at, answered_at, finished_at } = row;
  return {
    ...row,
    ...{ id: textOf(row.id), profile: textOf(row.profile), route: nameOf(row.route), job: nameOf(row.job) },
    ...{ state: isState ? row.state : 'dead', reason: isState ? reason : DAMAGED },
    accepted_at: instantOf(row.accepted_at) ?? 0,
    ...{ started_at: instantOf(started_at), answered_at: instantOf(answered_at), finished_at: instantOf(finished_at) },
    ...{ event, delivery_id, replay_of, agent, session },
    usage: toUsage(...decodeOr<[unknown?, unknown?, unknown?]>(usage, Array.isArray, [])),
    ...waitOf({ ...row, lane, due_at, asked_at }, reason, isHeldUp),
  };
}

type Wait = Pick<DispatchSummary, 'waits_for' | 'waits_since'>;

function waitOf(row: Omit<ListedRow, 'head' | 'usage'>, reason: string | null, isHeldUp: IsHeldUp): Wait {
  const since = instantOf(row.waits_since);
  const asked = instantOf(row.asked_at);
  if (asked !== null) return { waits_for: 'approval', waits_since: asked };
  if (row.state !== 'pending') return { waits_for: null, waits_since: null };
  if (row.waits_for === 'session') return { waits_for: 'session', waits_since: since };
  if (reason === 'budget') return { waits_for: 'budget', waits_since: since };
  return isHeldUp(row)
    ? { waits_for: 'agent', waits_since: Math.max(since ?? 0, instantOf(row.due_at) ?? 0) }
    : { waits_for: null, waits_since: null };
}

/** Columns that repeat what is in the body. */
const REPEATED = ['id', 'profile', 'route', 'job', 'mode', 'accepted_at'] as const;

/** Reads a complete dispatch from its row and steps, both as stored. @throws StoreDamaged */
export function readStored(
  { max_concurrent, body, answer, program, ...row }: StoredRow,
  steps: readonly string[],
  isHeldUp: IsHeldUp,
): StoredDispatch {
  const of = `of delivery ${textOf(row.id)}`;
  const stored = decode<Dispatch>(body, isDispatch, `the body ${of}`);
  const [event, delivery_id, , superseded] = decode<Head>(row.head, isHead, `the head ${of}`);
  const other = REPEATED.find((name) => stored[name] !== row[name]);
  if (other !== undefined) throw new StoreDamaged(`${other} ${of} is not what was written`);
  if (!orNull(isCount)(max_concurrent)) throw new StoreDamaged(`max_concurrent ${of} is not what was written`);
  if (stored.event !== event || stored.delivery_id !== delivery_id)
    throw new StoreDamaged(`the head ${of} is not what was written`);
  return {
    ...readListed(row, isHeldUp),
    ...{ dispatch: { ...stored, superseded }, max_concurrent },
    answer: answer === null ? null : decode<string>(answer, isText, `the answer ${of}`),
    // A record for people: what is damaged in it stops no delivery.
    program: program === null ? null : decodeOr<ProgramEnd>(program, isProgramEnd, DAMAGED_END),
    steps: steps.map((step) => decode<Step>(step, isStep, `a step ${of}`)),
  };
}
