/** The shapes of control requests. The gateway checks them, because any program of its user may have sent the request. */
import type { Dispatch } from '../../schemas/generated/types.ts';
import type { InitialWork } from '../store/event-mutations.ts';
import { GUARD_KINDS } from '../store/guard-mutations.ts';
import type { JobRecord } from '../store/job-mutations.ts';
import type { QueryKind } from '../store/queries.ts';
import { ControlError } from './control-error.ts';
import type { ControlName } from './operations.ts';
import { FAIL_ON } from './operations.ts';
import type { WireShape } from './shape.ts';
import {
  among,
  byKind,
  flagShape as flag,
  kind,
  listOf,
  nullable,
  object,
  optional,
  textShape as text,
} from './shape.ts';
import type { CommandMutation } from './store-operations.ts';

const whole = kind((value) => Number.isSafeInteger(value));
const nothing = object({});
const texts = listOf(text);
/** Any object: its values are texts, or plans that only the gateway's own code has made. */
const anyObject = object({});

const CLAIM_KEY = { profile: text, route: text, delivery_id: text };
const claim = nullable(object({ ...CLAIM_KEY, expires_at: whole }));

const deliveries = listOf(
  object({
    ...{ target: text, label: optional(text), extra: anyObject, unresolved: texts },
    output: optional(object({ name: text, content: anyObject })),
    approve_ms: optional(whole),
    place: optional(object({ url: optional(text), digest: text })),
  }),
);

const dispatch = object({
  ...{
    id: text,
    profile: text,
    route: nullable(text),
    job: nullable(text),
    mode: among('agent', 'message', 'direct', 'job'),
  },
  ...{ event: text, delivery_id: text, accepted_at: whole, due_at: nullable(whole), prompt: text },
  ...{
    agent: optional(nullable(text)),
    skills: texts,
    toolsets: texts,
    session: text,
    session_key: optional(nullable(text)),
    mirror_to_session: flag,
    superseded: whole,
    replay_of: nullable(text),
    ...{ trace: optional(text), tracestate: optional(text) },
    burst: optional(nullable(anyObject)),
  },
  deliveries,
  on_failure: optional(deliveries),
  outputs: optional(listOf(anyObject)),
  dropped: optional(listOf(anyObject)),
} satisfies Record<keyof Dispatch, WireShape>);

const job = object({
  ...{ id: text, profile: text, name: text, description: nullable(text), schedule: text, timezone: text, prompt: text },
  ...{ skills: texts, toolsets: nullable(texts), misfire: among('skip', 'once'), created_at: whole },
  deliver: listOf(object({ target: text, extra: anyObject })),
  agent: optional(nullable(text)),
  blueprint: nullable(object({ key: text, values: anyObject })),
  budget: optional(anyObject),
} satisfies Record<keyof JobRecord, WireShape>);

const LISTED = { state: optional(text), route: optional(text), job: optional(text), since: optional(whole) };

const QUERIES: Readonly<Record<QueryKind, WireShape>> = {
  is_claimed: object({ key: object(CLAIM_KEY), now: whole }),
  load: object({ ref: whole }),
  find: object({ id: text }),
  ended: object({ ids: texts }),
  list: object({
    filter: object({
      ...LISTED,
      ...{ before: optional(whole), oldest_open: optional(among(true)), limit: whole },
    }),
  }),
  sessions: object({ profile: nullable(text) }),
  waits: object({ now: whole }),
  said: object({ of: object({ profile: text, session: text }), turns: whole, chars: whole }),
  overview: object({ now: whole }),
  open_work: nothing,
  dead_work: nothing,
  jobs: nothing,
  jobs_version: nothing,
  job_ticks: object({ job: text, limit: whole }),
  oldest_due: object({ now: whole }),
  guard_rows: object({ of: among(...GUARD_KINDS), paused: optional(flag) }),
  usage: object({ since: whole, slot_ms: whole }),
  approvals: nothing,
  figures: object({ since: whole, slot_ms: whole }),
  nodes: nothing,
  audit: nothing,
  back_up: object({ to: text }),
};

const WORK: Readonly<Record<InitialWork['kind'], WireShape>> = {
  run: nothing,
  deliveries: object({
    answer: nullable(text),
    open: listOf(object({ index: whole, target: text, due_at: whole, waiting: optional(flag) })),
  }),
  held: object({ holder: text }),
};

const CHANGES: Readonly<Record<CommandMutation['kind'], WireShape>> = {
  accept: object({
    ...{ dispatch, max_concurrent: nullable(whole), claim, claiming: among('now', 'later') },
    ...{ work: byKind(WORK), now: whole },
  }),
  resend: object({ ref: whole, key: nullable(object(CLAIM_KEY)), again: flag, now: whole }),
  answer_approval: object({
    ...{ ref: whole, index: whole, since: whole, approve: flag, by: text, reason: nullable(text), now: whole },
  }),
  fire_job: object({ job: text, paused: flag, now: whole, dispatch, claim, even_paused: flag }),
  put_job: object({ job, expect: among('new', 'old'), numbered_beside: optional(texts) }),
  remove_job: object({ id: text }),
  pause_job: object({ job: text, paused: flag, now: whole }),
  put_guard: object({
    ...{ row: object({ kind: among(...GUARD_KINDS), key: text }), expect: nullable(text), body: nullable(text) },
    ...{ expires_at: nullable(whole), dispatch: nullable(dispatch), now: whole },
  }),
  pause_route: object({ profile: text, route: text, paused: flag, until: nullable(whole), now: whole }),
  watch_job: object({ job: text, signature: text, now: whole }),
};

const INPUTS: Readonly<Record<ControlName, WireShape>> = {
  ping: nothing,
  status: nothing,
  stop: object({ drain_seconds: optional(kind((value) => typeof value === 'number' && value >= 0)) }),
  reload: object({ fail_on: optional(listOf(among(...FAIL_ON))) }),
  enroll: object({ profile: text, route: text }),
  create_blueprint_job: object({
    ...{ key: text, values: kind(isTexts), name: optional(text), profile: optional(text), timezone: optional(text) },
    origin: optional(object({ target: text, chat_id: text, thread_id: optional(text) })),
  }),
  requests_list: object({
    filter: object({
      ...{ profile: optional(text), route: optional(text), outcome: optional(text), reason: optional(text) },
      ...{ since: optional(whole), grep: optional(text) },
    }),
    page: object({
      ...{ limit: whole, before: optional(text), after: optional(text), down_to: optional(text) },
      skip: optional(whole),
    }),
  }),
  requests_load: object({ id: text }),
  requests_replay: object({ id: text }),
  alerts_test: nothing,
  routes_list: nothing,
  names_check: object({ route: optional(text), profile: optional(text) }),
  jobs_list: object({
    ...{ id: optional(text), profile: optional(text), after: optional(object({ name: text, id: text })), limit: whole },
  }),
  approvals_list: nothing,
  approvals_show: object({ id: text }),
  approvals_answer: object({ id: text, approve: flag, by: text, reason: nullable(text) }),
  route_test: object({
    ...{ route: text, event: optional(text), payload: optional(text), confirmed: optional(flag) },
  }),
  job_run: object({ reference: text, profile: optional(text) }),
  deliveries_replay: object({
    ...{ ids: optional(texts), filter: optional(object(LISTED)), limit: optional(whole) },
    ...{ rerun: optional(flag), again: optional(flag) },
  }),
  request_explain: object({ id: text }),
  request_show: object({ id: text }),
  request_print: object({ id: text, form: among('curl', 'test') }),
  chats_list: object({ profile: optional(text) }),
  blueprints_list: nothing,
  metrics: nothing,
  store_read: byKind(QUERIES),
  store_write: byKind(CHANGES),
};

function isTexts(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  return Object.values(value).every((member) => typeof member === 'string');
}

/** @throws ControlError that names the first member that is missing or of another type */
export function checkInput(name: string, input: unknown): void {
  if (!Object.hasOwn(INPUTS, name)) return;
  const wrong = INPUTS[name as ControlName](input, 'request');
  if (wrong !== null) throw new ControlError('malformed', `${wrong} is missing, or of another type than ${name} takes`);
}
