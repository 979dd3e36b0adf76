/**
 * Checks that stored values are what was written: bytes of a disk, or a hand in a database, may have changed them. What
 * reads a row of any engine reads it with these checks; a value that fails one is damage.
 */
import type { BudgetPlan, Dispatch } from '../../schemas/generated/types.ts';
import type { JobRecord } from './job-mutations.ts';
import type { ProgramEnd, Step } from './states.ts';
import { STEP_OUTCOMES } from './states.ts';
import { isAmount } from './usage.ts';

/** A stored value is not what was written. The message names the value. */
export class StoreDamaged extends Error {
  override readonly name = 'StoreDamaged';
}

export type ValueCheck = (value: unknown) => boolean;
type Checks<T> = Readonly<Record<keyof T, ValueCheck>>;

/** The year 2248, in Unix ms. */
const LATEST = 2 ** 43;

export const isCount: ValueCheck = (value) => Number.isSafeInteger(value) && Number(value) >= 0;
/** Unix ms. */
export const isInstant: ValueCheck = (value) => isCount(value) && Number(value) < LATEST;
export const isText: ValueCheck = (value) => typeof value === 'string';
export const orNull =
  (check: ValueCheck): ValueCheck =>
  (value) =>
    value === null || check(value);
export const isOneOf =
  (...values: readonly unknown[]): ValueCheck =>
  (value) =>
    values.includes(value);
/** One of the members of a union; exhaustive. */
const isMember =
  <T extends string>(members: Readonly<Record<T, true>>): ValueCheck =>
  (value) =>
    isText(value) && Object.hasOwn(members, value as string);
const orAbsent =
  (check: ValueCheck): ValueCheck =>
  (value) =>
    value === undefined || check(value);
const listOf =
  (check: ValueCheck): ValueCheck =>
  (value) =>
    Array.isArray(value) && value.every(check);

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const texts = listOf(isText);
const textByKey: ValueCheck = (value) => isRecord(value) && texts(Object.values(value));

/** A check of all fields. */
export const fieldsOf =
  <T>(checks: Checks<T>): ValueCheck =>
  (value) =>
    isRecord(value) && (Object.keys(checks) as (keyof T & string)[]).every((name) => checks[name](value[name]));

const deliveries = listOf(
  fieldsOf<Dispatch['deliveries'][number]>({
    ...{ target: isText, label: orAbsent(isText), extra: textByKey, unresolved: texts },
    output: orAbsent((value) => isRecord(value) && isText(value.name) && isRecord(value.content)),
    approve_ms: orAbsent(isCount),
    place: orAbsent((value) => isRecord(value) && orAbsent(isText)(value.url) && isText(value.digest)),
  }),
);

const isBurst = fieldsOf<NonNullable<Dispatch['burst']>>({
  ...{ line: isText, at: listOf(isCount), max_events: isCount, marker: orAbsent(isText) },
});

export const isDispatch = fieldsOf<Dispatch>({
  ...{
    id: isText,
    mode: isMember<Dispatch['mode']>({ agent: true, message: true, direct: true, job: true }),
    profile: isText,
    route: orNull(isText),
  },
  ...{ job: orNull(isText), event: isText, delivery_id: isText, accepted_at: isInstant, due_at: orNull(isInstant) },
  ...{ prompt: isText, agent: orAbsent(orNull(isText)), skills: texts, toolsets: texts, session: isText },
  session_key: orAbsent(orNull(isText)),
  mirror_to_session: isOneOf(true, false),
  ...{ trace: orAbsent(isText), tracestate: orAbsent(isText) },
  deliveries,
  on_failure: orAbsent(deliveries),
  ...{ superseded: isCount, replay_of: orNull(isText) },
  burst: orAbsent(orNull(isBurst)),
  outputs: orAbsent(
    listOf((value) => isRecord(value) && isRecord(value.delivery) && isRecord(value.allow) && isCount(value.max)),
  ),
  dropped: orAbsent(listOf(isRecord)),
});

export const isProgramEnd = fieldsOf<ProgramEnd>({
  ...{ exit_code: orNull(isCount), signal: orNull(isText), stderr: isText, denied: orAbsent(texts) },
});

export const isStep = fieldsOf<Step>({
  ...{ kind: isOneOf('run', 'delivery'), index: orNull(isCount) },
  outcome: isOneOf(...STEP_OUTCOMES),
  ...{ started_at: isInstant, at: isInstant, reason: orNull(isText), next_at: orNull(isInstant) },
  ...{ sent: isCount, message_id: orNull(isText), program: orAbsent(isProgramEnd) },
  by: orAbsent(isText),
});

const isBudgetPlan = fieldsOf<BudgetPlan>({
  ...{ runs: orNull(isCount), tokens: orNull(isCount), cost: orNull(isAmount), per: isOneOf('hour', 'day') },
});

export const isJobRecord = fieldsOf<JobRecord>({
  ...{ id: isText, profile: isText, name: isText, description: orNull(isText), schedule: isText, timezone: isText },
  ...{
    prompt: isText,
    deliver: listOf(isRecord),
    agent: orAbsent(orNull(isText)),
    skills: texts,
    toolsets: orNull(texts),
  },
  ...{ misfire: isOneOf('skip', 'once'), created_at: isInstant, blueprint: orNull(isRecord) },
  budget: orAbsent(isBudgetPlan),
});

/** What lists show of a dispatch. `session`: that in which it takes turns. Older rows have four members. */
export type Head = readonly [
  ...[event: string, delivery_id: string, replay_of: string | null, superseded: number],
  ...[agent?: string | null, session?: string | null],
];
export const isHead: ValueCheck = (value) =>
  Array.isArray(value) &&
  isText(value[0]) &&
  isText(value[1]) &&
  orNull(isText)(value[2]) &&
  isCount(value[3]) &&
  [value[4], value[5]].every(orAbsent(orNull(isText)));

/** Parses a stored text. @param what names it, for the message @throws StoreDamaged */
export function decode<T>(json: unknown, check: ValueCheck, what: string): T {
  const value = decodeOr<T | undefined>(json, check, undefined);
  if (value === undefined) throw new StoreDamaged(`${what} is not what was written`);
  return value;
}

/** The same, with `instead` for a damaged one. */
export function decodeOr<T>(json: unknown, check: ValueCheck, instead: T): T {
  try {
    const value: unknown = JSON.parse(json as string);
    return check(value) ? (value as T) : instead;
  } catch {
    return instead;
  }
}
