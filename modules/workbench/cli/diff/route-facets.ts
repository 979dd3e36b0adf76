/**
 * How each key of a route is compared: the values in which two plans can differ, and the sentence for each difference.
 * A key of the plan that is missing here does not compile.
 */
import { eventEntries } from '../../../../runtime/table/link-events.ts';
import { printField } from '../../../../runtime/table/link-filter.ts';
import { printFilter, printTemplate } from '../../../../runtime/table/print-plan.ts';
import type { DeliveryPlan, OutputPlan, RoutePlan } from '../../../../schemas/generated/types.ts';
import type { ShownValue } from './shown.ts';
import { shown } from './shown.ts';

export interface Facet {
  /** Key in a config. */
  readonly field: string;
  readonly read: (plan: RoutePlan) => readonly ShownValue[];
  /** For a list: what an added entry means, and a removed one. */
  readonly added: (text: string) => string;
  readonly removed: (text: string) => string;
  /** For a single value on both sides. */
  readonly changed: (before: string, now: string) => string;
  /** The first one takes precedence. */
  readonly ordered?: true;
}

/** A key that is not compared. */
interface NotCompared {
  readonly because: string;
}

type Words = Pick<Facet, 'added' | 'removed' | 'changed'>;

const listed = (added: string, removed: string): Words => ({
  added: (text) => `${added} ${text}`,
  removed: (text) => `${removed} ${text}`,
  changed: (before, now) => `${added} ${now}, ${removed} ${before}`,
});

const valued = (what: string): Words => ({
  added: (text) => `${what} is now ${text}`,
  removed: (text) => `${what} is no longer ${text}`,
  changed: (before, now) => `${what} is ${now} instead of ${before}`,
});

const one = (value: unknown, text?: string): readonly ShownValue[] => (value === null ? [] : [shown(value, text)]);
const list = (values: readonly string[]): readonly ShownValue[] => values.map((value) => shown(value));

/** A key with a single value, which is shown as it stands. */
const plain = (field: keyof RoutePlan & string, what: string): Facet => ({
  field,
  read: (plan) => one(plan[field]),
  ...valued(what),
});

/** What a route now does with its prompt; which job it fires is a difference of its own. */
const MODES = {
  ...{ agent: 'an agent now runs', cron: 'an agent now runs' },
  message: 'the prompt itself is now the message, stored and retried: no agent runs',
  direct: 'the prompt itself is now the message, and the sender waits for it: no agent runs',
} as const satisfies Record<RoutePlan['mode'], string>;

const EVERY_EVENT = 'every event';

/** In the order in which differences are printed. */
const ROUTE_KEYS = {
  name: { because: 'routes are paired by it' },
  at: { because: 'a place is no difference; it is printed beside the route' },
  enabled: {
    ...plain('enabled', 'it'),
    changed: (_before, now) =>
      now === 'true' ? 'it is switched on' : 'it is switched off: its events are answered 403',
  },
  description: plain('description', 'its description'),
  profile: plain('profile', 'its profile'),
  source: plain('source', 'its sender'),
  schemes: {
    field: 'auth',
    read: ({ schemes }) => list(schemes),
    ...listed('it now accepts the signature scheme', 'it no longer accepts the signature scheme'),
    ordered: true,
  },
  secrets: {
    field: 'secret',
    read: ({ secrets }) => secrets.map(({ ref, expires_at }) => ({ ...shown(ref), key: shown([ref, expires_at]).key })),
    ...listed('it now accepts the secret', 'it no longer accepts the secret'),
    changed: (before, now) =>
      before === now ? 'its secret is another one' : `its secret is ${now} instead of ${before}`,
    ordered: true,
  },
  verify_token: plain('verify_token', 'its verify token'),
  insecure: {
    field: 'secret',
    read: ({ insecure }) => (insecure ? list(['INSECURE_NO_AUTH']) : []),
    ...valued('its secret'),
  },
  public_url: plain('public_url', 'its public URL'),
  events: {
    field: 'events',
    read: ({ events }) => list(events === null ? [EVERY_EVENT] : eventEntries(events)),
    ...listed('it now takes', 'it no longer takes'),
  },
  filters: {
    field: 'filters',
    read: ({ filters }) => {
      if (filters === null) return [];
      const members = filters.kind === 'all' ? filters.filters : [filters];
      return members.map((member) => shown(member, printFilter(member)));
    },
    ...listed('it now requires', 'it no longer requires'),
  },
  script: { field: 'script', read: ({ script }) => one(script, script?.path), ...valued('its script') },
  prompt: {
    field: 'prompt',
    read: ({ prompt }) => [shown(prompt, printTemplate(prompt))],
    ...valued('its prompt'),
    changed: () => 'its prompt differs',
  },
  agent: plain('agent', 'the agent it runs'),
  skills: {
    field: 'skills',
    read: ({ skills }) => list(skills),
    ...listed('it now has the skill', 'it no longer has the skill'),
    ordered: true,
  },
  toolsets: {
    field: 'toolsets',
    read: ({ toolsets }) => list(toolsets),
    ...listed('its runs may now use', 'its runs may no longer use'),
  },
  deliver: {
    field: 'deliver',
    read: ({ mode, deliver }) => (mode === 'cron' ? [] : deliver.map((each) => shown(each, printDelivery(each)))),
    ...listed('it now delivers to', 'it no longer delivers to'),
  },
  outputs: {
    field: 'outputs',
    read: ({ outputs = [] }) => outputs.map((each) => shown(each, printOutput(each))),
    ...listed('its agent may now hand over', 'its agent may no longer hand over'),
  },
  mode: {
    field: 'deliver_only',
    read: ({ mode }) => [shown(MODES[mode])],
    ...valued('mode'),
    changed: (_before, now) => now,
  },
  cron_job: plain('cron_job', 'the job it fires'),
  coalesce: {
    field: 'coalesce',
    read: ({ coalesce }) => one(coalesce, coalesce === null ? '' : printCoalesce(coalesce)),
    ...valued('what it coalesces by'),
  },
  session: {
    field: 'session_key',
    read: ({ session }) =>
      session === null
        ? []
        : [shown(session, `${printTemplate(session.key)}${session.scope === null ? '' : ` in ${session.scope}`}`)],
    ...valued('the session whose runs take turns'),
  },
  mirror_to_session: plain('mirror_to_session', 'mirror_to_session'),
  rate_limit: plain('rate_limit', 'its rate limit (requests a minute)'),
  max_concurrent: plain('max_concurrent', 'its limit of runs at once'),
  on_failure: {
    field: 'on_failure',
    read: ({ on_failure }) => on_failure.map((each) => shown(each, printDelivery(each))),
    ...listed('the reason of a failed run now goes to', 'the reason of a failed run no longer goes to'),
  },
  loop_limit: plain('loop_limit', 'its limit of runs for one key within ten minutes'),
  allow_own_events: {
    ...plain('allow_own_events', 'allow_own_events'),
    changed: (_before, now) =>
      now === 'true' ? 'it now takes events that it has caused itself' : 'it ignores events that it has caused itself',
  },
  budget: {
    field: 'budget',
    read: ({ budget }) => (budget === undefined ? [] : [shown(budget, printBudget(budget))]),
    ...valued('its budget'),
  },
  status: {
    field: 'status_url',
    read: ({ status }) =>
      status === undefined ? [] : [shown(status, status.answer ? 'with the answer' : 'the state')],
    ...valued('what the status_url of an event tells'),
  },
  idempotency_ttl_seconds: plain('idempotency_ttl_seconds', 'how long it remembers delivery ids (seconds)'),
  max_age: {
    field: 'max_age_seconds',
    read: ({ max_age }) =>
      max_age === null ? [] : [shown(max_age, `${max_age.seconds} s after ${printField(max_age.time)}`)],
    ...valued('how old an event may be'),
  },
  capture: plain('capture', 'its capture of requests'),
} satisfies Record<keyof RoutePlan, Facet | NotCompared>;

export const ROUTE_FACETS: readonly Facet[] = Object.values<Facet | NotCompared>(ROUTE_KEYS).filter(
  (entry): entry is Facet => 'read' in entry,
);

function printBudget({ per, ...limits }: NonNullable<RoutePlan['budget']>): string {
  const most = Object.entries(limits).flatMap(([what, limit]) => (limit === null ? [] : [`${limit} ${what}`]));
  return `${most.join(', ')} per ${per}`;
}

function printDelivery({ target, extra, approve_ms }: DeliveryPlan): string {
  const address = Object.entries(extra).map(([key, template]) => `${key}=${printTemplate(template)}`);
  const waits = approve_ms === undefined ? [] : [`once a person approves it within ${approve_ms / 60_000} min`];
  return [target, ...address, ...waits].join(' ');
}

function printOutput({ name, delivery, allow, max }: OutputPlan): string {
  const allowed = Object.entries(allow).map(([field, values]) => `${field} of ${values.join(', ')}`);
  return [`${name} to ${printDelivery(delivery)}`, ...allowed, `at most ${max}`].join('; ');
}

function printCoalesce({ key, window_seconds, max_wait_seconds, all }: NonNullable<RoutePlan['coalesce']>): string {
  const kept = all === undefined ? '' : `, all of them, at most ${all.max_events}, each as ${printTemplate(all.each)}`;
  return `${printTemplate(key)} for ${window_seconds} s, at most ${max_wait_seconds} s${kept}`;
}
