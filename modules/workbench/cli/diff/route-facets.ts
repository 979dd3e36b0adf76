/** How each key of a route is compared: the values in which two plans can differ. A key of the plan that is missing here does not compile. */
import { eventEntries } from '../../../../runtime/table/link-events.ts';
import { printField } from '../../../../runtime/table/link-filter.ts';
import { printFilter, printTemplate } from '../../../../runtime/table/print-plan.ts';
import type { DeliveryPlan, OutputPlan, RoutePlan } from '../../../../schemas/generated/types.ts';
import type { ShownValue } from './shown.ts';
import { shown } from './shown.ts';

export interface Facet {
  /** Key in a config. */
  readonly field: string;
  /** One value, or those of a list. */
  readonly read: (plan: RoutePlan) => readonly ShownValue[];
  /** The first one takes precedence. */
  readonly ordered?: true;
}

const one = (value: unknown, text?: string): readonly ShownValue[] =>
  value === null || value === undefined ? [] : [shown(value, text)];
const list = (values: readonly string[]): readonly ShownValue[] => values.map((value) => shown(value));

const EVERY_EVENT = 'every event';

/** In the order in which differences are printed. `plain`: a single value, which is shown as it is. */
const ROUTE_KEYS = {
  name: 'not compared',
  at: 'not compared',
  enabled: 'plain',
  description: 'plain',
  profile: 'plain',
  source: 'plain',
  schemes: { field: 'auth', read: ({ schemes }) => list(schemes), ordered: true },
  secrets: {
    field: 'secret',
    read: ({ secrets }) => secrets.map(({ ref, expires_at }) => ({ ...shown(ref), key: shown([ref, expires_at]).key })),
    ordered: true,
  },
  verify_token: 'plain',
  insecure: { field: 'secret', read: ({ insecure }) => (insecure ? list(['INSECURE_NO_AUTH']) : []) },
  public_url: 'plain',
  events: {
    field: 'events',
    read: ({ events }) => list(events === null ? [EVERY_EVENT] : eventEntries(events)),
  },
  filters: {
    field: 'filters',
    read: ({ filters }) => {
      if (filters === null) return [];
      const members = filters.kind === 'all' ? filters.filters : [filters];
      return members.map((member) => shown(member, printFilter(member)));
    },
  },
  script: { field: 'script', read: ({ script }) => one(script, script?.path) },
  prompt: { field: 'prompt', read: ({ prompt }) => [shown(prompt, printTemplate(prompt))] },
  agent: 'plain',
  skills: { field: 'skills', read: ({ skills }) => list(skills), ordered: true },
  toolsets: { field: 'toolsets', read: ({ toolsets }) => list(toolsets) },
  deliver: {
    field: 'deliver',
    read: ({ mode, deliver }) => (mode === 'cron' ? [] : deliver.map((each) => shown(each, printDelivery(each)))),
  },
  outputs: { field: 'outputs', read: ({ outputs = [] }) => outputs.map((each) => shown(each, printOutput(each))) },
  // The job that a route fires is a difference of its own.
  mode: { field: 'deliver_only', read: ({ mode }) => [shown(mode === 'cron' ? 'agent' : mode)] },
  cron_job: 'plain',
  coalesce: {
    field: 'coalesce',
    read: ({ coalesce }) => one(coalesce, coalesce === null ? '' : printCoalesce(coalesce)),
  },
  session: { field: 'session_key', read: ({ session }) => one(session, session === null ? '' : printSession(session)) },
  mirror_to_session: 'plain',
  rate_limit: 'plain',
  max_concurrent: 'plain',
  on_failure: {
    field: 'on_failure',
    read: ({ on_failure }) => on_failure.map((each) => shown(each, printDelivery(each))),
  },
  loop_limit: 'plain',
  allow_own_events: 'plain',
  budget: { field: 'budget', read: ({ budget }) => (budget === undefined ? [] : [shown(budget, printBudget(budget))]) },
  status: { field: 'status_url', read: ({ status }) => one(status, status?.answer ? 'with the answer' : 'the state') },
  idempotency_ttl_seconds: 'plain',
  max_age: {
    field: 'max_age_seconds',
    read: ({ max_age }) =>
      max_age === null ? [] : [shown(max_age, `${max_age.seconds} s after ${printField(max_age.time)}`)],
  },
  capture: 'plain',
} satisfies Record<keyof RoutePlan, Facet | 'plain' | 'not compared'>;

export const ROUTE_FACETS: readonly Facet[] = Object.entries<Facet | 'plain' | 'not compared'>(ROUTE_KEYS).flatMap(
  ([key, facet]) => {
    if (facet === 'not compared') return [];
    return facet === 'plain' ? { field: key, read: (plan) => one(plan[key as keyof RoutePlan]) } : facet;
  },
);

const printSession = ({ key, scope }: NonNullable<RoutePlan['session']>): string =>
  `${printTemplate(key)}${scope === null ? '' : ` in ${scope}`}`;

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
