/**
 * How each key of a route is compared: the values in which two plans can differ, and the sentence for each difference.
 * A key of the plan that is missing here does not compile.
 */
import { eventEntries } from '../../../../runtime/table/link-events.ts';
import { printField } from '../../../../runtime/table/link-filter.ts';
import type { DeliveryPlan, RoutePlan } from '../../../../schemas/generated/types.ts';
import type { ShownValue } from './shown.ts';
import { printFilter, printTemplate, shown, shownSecret } from './shown.ts';

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

const EVERY_EVENT = 'every event';

/** In the order in which differences are printed. */
const ROUTE_KEYS = {
  name: { because: 'routes are paired by it' },
  at: { because: 'a place is no difference; it is printed beside the route' },
  enabled: {
    field: 'enabled',
    read: ({ enabled }) => [shown(enabled)],
    ...valued('it'),
    changed: (_before, now) =>
      now === 'true' ? 'it is switched on' : 'it is switched off: its events are answered 403',
  },
  description: { field: 'description', read: ({ description }) => one(description), ...valued('its description') },
  profile: { field: 'profile', read: ({ profile }) => [shown(profile)], ...valued('its profile') },
  source: { field: 'source', read: ({ source }) => one(source), ...valued('its sender') },
  schemes: {
    field: 'auth',
    read: ({ schemes }) => list(schemes),
    ...listed('it now accepts the signature scheme', 'it no longer accepts the signature scheme'),
    ordered: true,
  },
  secrets: {
    field: 'secret',
    read: ({ secrets }) =>
      secrets.map(({ ref, expires_at }) => ({ ...shownSecret(ref), key: shown([ref, expires_at]).key })),
    ...listed('it now accepts the secret', 'it no longer accepts the secret'),
    changed: (before, now) =>
      before === now ? 'its secret is another one' : `its secret is ${now} instead of ${before}`,
    ordered: true,
  },
  verify_token: {
    field: 'verify_token',
    read: ({ verify_token }) => (verify_token === null ? [] : [shownSecret(verify_token)]),
    ...valued('its verify token'),
  },
  insecure: {
    field: 'secret',
    read: ({ insecure }) => (insecure ? list(['INSECURE_NO_AUTH']) : []),
    ...valued('its secret'),
  },
  public_url: { field: 'public_url', read: ({ public_url }) => one(public_url), ...valued('its public URL') },
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
  mode: {
    field: 'deliver_only',
    read: ({ mode }) => [shown(mode === 'direct')],
    ...valued('deliver_only'),
    changed: (_before, now) =>
      now === 'true' ? 'the prompt itself is now the message: no agent runs' : 'an agent now runs',
  },
  cron_job: { field: 'cron_job', read: ({ cron_job }) => one(cron_job), ...valued('the job it fires') },
  coalesce: {
    field: 'coalesce',
    read: ({ coalesce }) =>
      coalesce === null
        ? []
        : [
            shown(
              coalesce,
              `${printTemplate(coalesce.key)} for ${coalesce.window_seconds} s, at most ${coalesce.max_wait_seconds} s`,
            ),
          ],
    ...valued('what it coalesces by'),
  },
  mirror_to_session: {
    field: 'mirror_to_session',
    read: (plan) => [shown(plan.mirror_to_session)],
    ...valued('mirror_to_session'),
  },
  rate_limit: {
    field: 'rate_limit',
    read: (plan) => [shown(plan.rate_limit)],
    ...valued('its rate limit (requests a minute)'),
  },
  max_concurrent: {
    field: 'max_concurrent',
    read: (plan) => one(plan.max_concurrent),
    ...valued('its limit of runs at once'),
  },
  idempotency_ttl_seconds: {
    field: 'idempotency_ttl_seconds',
    read: (plan) => [shown(plan.idempotency_ttl_seconds)],
    ...valued('how long it remembers delivery ids (seconds)'),
  },
  max_age: {
    field: 'max_age_seconds',
    read: ({ max_age }) =>
      max_age === null ? [] : [shown(max_age, `${max_age.seconds} s after ${printField(max_age.time)}`)],
    ...valued('how old an event may be'),
  },
  capture: { field: 'capture', read: ({ capture }) => [shown(capture)], ...valued('its capture of requests') },
} satisfies Record<keyof RoutePlan, Facet | NotCompared>;

export const ROUTE_FACETS: readonly Facet[] = Object.values<Facet | NotCompared>(ROUTE_KEYS).filter(
  (entry): entry is Facet => 'read' in entry,
);

function printDelivery({ target, extra }: DeliveryPlan): string {
  const address = Object.entries(extra).map(([key, template]) => `${key}=${printTemplate(template)}`);
  return [target, ...address].join(' ');
}
