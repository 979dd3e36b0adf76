/**
 * Checks that stored values are what was written: bytes of a disk, or a hand in a database, may have changed them. What
 * reads a row of any engine reads it with these checks; a value that fails one is damage. Whoever can write rows chooses
 * prompts, toolsets and addresses. What becomes an argument, a variable, a header or a part of a path has a form that can be
 * nothing else there, and a name is looked up in the table: a row brings no command and no settings.
 * schemas/dispatch.schema.json has the same forms.
 */
import { realTarget } from '../../base/names.ts';
import type { JobRecord } from '../../schemas/built/operations/types.ts';
import type {
  BudgetPlan,
  ContentField,
  DeliveryPlan,
  Dispatch,
  DispatchDelivery,
  DispatchOutput,
} from '../../schemas/generated/types.ts';
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
export const orAbsent =
  (check: ValueCheck): ValueCheck =>
  (value) =>
    value === undefined || check(value);
export const isListOf =
  (check: ValueCheck): ValueCheck =>
  (value) =>
    Array.isArray(value) && value.every(check);

export const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const texts = isListOf(isText);
const textByKey: ValueCheck = (value) => isRecord(value) && texts(Object.values(value));
const isLike =
  (form: RegExp): ValueCheck =>
  (value) =>
    isText(value) && form.test(value as string);

/** Of a profile, route, agent, target, job or toolset, as the schemas have it: a folder, or a whole argument. */
const isName = isLike(/^[a-z0-9][a-z0-9_-]{0,63}$/);
/** Of a skill: the configuration may name one that is no folder, which is left out (agents/skills.ts). */
const isLine = isLike(/^[^\p{Cc}]+$/u);
/** What `sessionId` returns, which is an argument: it begins with no dash. */
const isSession = isLike(/^[a-z0-9][A-Za-z0-9._:/@+=,%-]*$/);
const isTrace = isLike(/^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/);
const isHeaderText = isLike(/^[\x20-\x7e]*$/);

/** A check of all fields. */
export const fieldsOf =
  <T>(checks: Checks<T>): ValueCheck =>
  (value) =>
    isRecord(value) && (Object.keys(checks) as (keyof T & string)[]).every((name) => checks[name](value[name]));

/** A text, a list of texts, or a list of maps of texts and numbers. */
const isContent: ValueCheck = (value) =>
  isText(value) ||
  isListOf((item) => isText(item) || (isRecord(item) && Object.values(item).every(isTextOrNumber)))(value);
const isTextOrNumber: ValueCheck = (value) => isText(value) || typeof value === 'number';

const isDelivery = fieldsOf<DispatchDelivery>({
  target: isName,
  label: orAbsent(isText),
  extra: textByKey,
  unresolved: texts,
  output: orAbsent(
    (value) =>
      isRecord(value) && isText(value.name) && isRecord(value.content) && Object.values(value.content).every(isContent),
  ),
  approve_ms: orAbsent(isCount),
  place: orAbsent((value) => isRecord(value) && orAbsent(isText)(value.url) && isText(value.digest)),
});
const deliveries = isListOf(isDelivery);

const isOutput = fieldsOf<DispatchOutput>({
  name: isName,
  fields: isListOf(
    fieldsOf<ContentField>({
      name: isText,
      kind: isOneOf('text', 'line', 'list', 'objects'),
      required: isOneOf(true, false),
      help: orAbsent(isText),
      values: orAbsent(texts),
      members: orAbsent(
        isListOf((value) => isRecord(value) && isText(value.name) && isOneOf('text', 'markup', 'integer')(value.kind)),
      ),
    }),
  ),
  allow: (value) => isRecord(value) && Object.values(value).every(texts),
  max: isCount,
  message: orAbsent(
    (value) =>
      isRecord(value) && isCount(value.limit) && isOneOf('utf16', 'codepoint', 'byte', 'json_byte')(value.unit),
  ),
  delivery: isDelivery,
});

const isBurst = fieldsOf<NonNullable<Dispatch['burst']>>({
  line: isText,
  at: isListOf(isCount),
  max_events: isCount,
  marker: orAbsent(isText),
});

export const isDispatch = fieldsOf<Dispatch>({
  id: isText,
  mode: isMember<Dispatch['mode']>({ agent: true, message: true, direct: true, job: true }),
  profile: isName,
  route: orNull(isName),
  job: orNull(isText),
  event: isText,
  delivery_id: isText,
  accepted_at: isInstant,
  due_at: orNull(isInstant),
  prompt: isText,
  agent: orAbsent(orNull(isName)),
  skills: isListOf(isLine),
  toolsets: isListOf(isName),
  session: isSession,
  session_key: orAbsent(orNull(isText)),
  mirror_to_session: isOneOf(true, false),
  trace: orAbsent(isTrace),
  tracestate: orAbsent(isHeaderText),
  deliveries,
  on_failure: orAbsent(deliveries),
  superseded: isCount,
  replay_of: orNull(isText),
  burst: orAbsent(orNull(isBurst)),
  outputs: orAbsent(isListOf(isOutput)),
  dropped: orAbsent(isListOf(isRecord)),
});

export const isProgramEnd = fieldsOf<ProgramEnd>({
  exit_code: orNull(isCount),
  signal: orNull(isText),
  stderr: isText,
  denied: orAbsent(texts),
});

export const isStep = fieldsOf<Step>({
  kind: isOneOf('run', 'delivery'),
  index: orNull(isCount),
  outcome: isOneOf(...STEP_OUTCOMES),
  started_at: isInstant,
  at: isInstant,
  reason: orNull(isText),
  next_at: orNull(isInstant),
  sent: isCount,
  message_id: orNull(isText),
  program: orAbsent(isProgramEnd),
  by: orAbsent(isText),
});

const isBudgetPlan = fieldsOf<BudgetPlan>({
  runs: orNull(isCount),
  tokens: orNull(isCount),
  cost: orNull(isAmount),
  per: isOneOf('hour', 'day'),
});

const isBuiltin = isOneOf('event_type', 'route', 'delivery_id');
/** Segments of an address, which marks no value. */
const SEGMENTS: Readonly<Record<string, (segment: Readonly<Record<string, unknown>>) => boolean>> = {
  text: ({ text }) => isText(text),
  path: ({ path, text, builtin }) => texts(path) && isText(text) && orNull(isBuiltin)(builtin),
  dump: () => true,
  meta: ({ name }) => isBuiltin(name),
};
const isSegment: ValueCheck = (value) =>
  isRecord(value) &&
  value.marked === undefined &&
  Object.hasOwn(SEGMENTS, String(value.kind)) &&
  SEGMENTS[String(value.kind)]?.(value) === true;

const isDeliveryPlan = fieldsOf<DeliveryPlan>({
  target: isName,
  label: orAbsent(isText),
  extra: (value) => isRecord(value) && Object.values(value).every(isListOf(isSegment)),
  approve_ms: orAbsent(isCount),
});

export const isJobRecord = fieldsOf<JobRecord>({
  id: isName,
  profile: isName,
  name: isName,
  description: orNull(isText),
  schedule: isText,
  timezone: isText,
  prompt: isText,
  deliver: isListOf(isDeliveryPlan),
  agent: orAbsent(orNull(isName)),
  skills: isListOf(isLine),
  toolsets: orNull(isListOf(isName)),
  misfire: isOneOf('skip', 'once'),
  created_at: isInstant,
  blueprint: orNull((value) => isRecord(value) && isText(value.key) && textByKey(value.values)),
  budget: orAbsent(isBudgetPlan),
});

/** Null for one that is damaged. An earlier version has stored the specification's names for targets. */
export function decodeJob(json: unknown): JobRecord | null {
  const job = decodeOr<JobRecord | null>(json, isJobRecord, null);
  return (
    job && { ...job, deliver: job.deliver.map((delivery) => ({ ...delivery, target: realTarget(delivery.target) })) }
  );
}

/** What lists show of a dispatch. `session`: that in which it takes turns. Older rows have four members. */
export type Head = readonly [
  event: string,
  delivery_id: string,
  replay_of: string | null,
  superseded: number,
  agent?: string | null,
  session?: string | null,
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
