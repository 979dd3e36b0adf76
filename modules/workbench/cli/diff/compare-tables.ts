/** Compares the meaning of two compiled tables: routes key by key, and everything else value by value. */
import { schemeLabel, targetLabel } from '../../../../base/text.ts';
import { isPlainMap } from '../../../../compiler/text/plain-data.ts';
import { isSecretRef, printSecretRef } from '../../../../runtime/platform/secrets.ts';
import { eventEntries } from '../../../../runtime/table/link-events.ts';
import { printField } from '../../../../runtime/table/link-filter.ts';
import { printFilter, printTemplate } from '../../../../runtime/table/link-template.ts';
import type {
  DeliveryPlan,
  JobPlan,
  OutputPlan,
  Place,
  ResponsePlan,
  RoutePlan,
  RouteTable,
  TargetBinding,
} from '../../../../schemas/generated/types.ts';

/** One difference in meaning between two tables. */
export interface ConfigChange {
  /** The kind of its subject: `route`, `job`, `target`, `agent`, `server`, `gateway`, … */
  readonly subject: string;
  readonly name: string;
  /** The key that differs; null: the whole entry. */
  readonly field: string | null;
  /** `events: push → –`, or `added` or `removed` for a whole entry. */
  readonly sentence: string;
  /** The old and the new value as text; null: no value. Secrets appear only as references. */
  readonly old: string | null;
  readonly new: string | null;
  /** Position of the entry in the config. */
  readonly old_at: Place | null;
  readonly new_at: Place | null;
}

/** Returns the differences in the order of the new table, removed entries last. Empty if both have the same meaning. */
export function compareTables(before: RouteTable, now: RouteTable): ConfigChange[] {
  return [
    ...entries('route', before.routes, now.routes, compareRoute),
    ...entries('job', before.jobs, now.jobs, compareJob),
    ...settings('server', '', before.server, now.server),
    ...settings('gateway', '', before.gateway, now.gateway),
    ...entries('profile', before.profiles, now.profiles, (a, b) => [
      ...settings('agent', b.name, a.agent, b.agent),
      ...entries('agent', a.agents, b.agents, (x, y, name) => settings('agent', name, x, y)),
      ...settings('profile', b.name, { toolsets: a.toolsets }, { toolsets: b.toolsets }),
      ...entries('target', ...underLabels(a.targets, b.targets), (x, y, name) => settings('target', name, x, y)),
    ]),
    ...definitions('target definition', before.targets, now.targets),
    ...definitions('signature scheme', before.schemes, now.schemes),
    ...definitions('blueprint', before.blueprints, now.blueprints),
  ];
}

type Entries<Entry> = Readonly<Record<string, Entry>>;
type Bindings = Entries<TargetBinding>;

/** Keys bindings by the names in the configuration, those of the new table first, so that another alias is not a difference. */
function underLabels(before: Bindings, now: Bindings): [before: Entries<object>, now: Entries<object>] {
  const labels = new Map([...Object.entries(before), ...Object.entries(now)].map(([name, { label }]) => [name, label]));
  const renamed = (targets: Bindings): Entries<object> =>
    Object.fromEntries(
      Object.entries(targets).map(([name, { label: _, ...plan }]) => [labels.get(name) ?? name, plan]),
    );
  return [renamed(before), renamed(now)];
}

function entries<Entry extends object>(
  subject: string,
  before: Entries<Entry>,
  now: Entries<Entry>,
  compare: (before: Entry, now: Entry, name: string) => readonly ConfigChange[],
): ConfigChange[] {
  const current = Object.entries(now).flatMap(([name, entry]): readonly ConfigChange[] => {
    const old = Object.hasOwn(before, name) ? before[name] : undefined;
    if (old !== undefined) return compare(old, entry, name);
    return [{ ...whole(subject, name, 'new'), new_at: placeOf(entry) }];
  });
  const removed = Object.entries(before).flatMap(([name, entry]) =>
    Object.hasOwn(now, name) ? [] : [{ ...whole(subject, name, 'removed'), old_at: placeOf(entry) }],
  );
  return [...current, ...removed];
}

function whole(subject: string, name: string, sentence: string): ConfigChange {
  return { subject, name, field: null, sentence, old: null, new: null, old_at: null, new_at: null };
}

/** A text of several lines is printed as a diff below the sentence. Two literal secrets look the same. */
function difference(field: string, old: string | null, fresh: string | null): Difference {
  const hasLines = old !== null && fresh !== null && `${old}${fresh}`.includes('\n');
  const sentence = old === fresh || hasLines ? `${field}: changed` : `${field}: ${old ?? '–'} → ${fresh ?? '–'}`;
  return { field, sentence, old, new: fresh };
}

const placeOf = (entry: object): Place | null => ('at' in entry ? (entry.at as Place) : null);

function compareRoute(before: RoutePlan, now: RoutePlan): ConfigChange[] {
  const place = { subject: 'route', name: now.name, old_at: before.at, new_at: now.at };
  return ROUTE_FACETS.flatMap((facet) =>
    compareFacet(facet, facet.read(before), facet.read(now)).map((change) => ({ ...place, ...change })),
  );
}

type Difference = Pick<ConfigChange, 'field' | 'sentence' | 'old' | 'new'>;

function compareFacet(facet: Facet, before: readonly ShownValue[], now: readonly ShownValue[]): Difference[] {
  const { field } = facet;
  const removed = before.filter(({ key }) => now.every((each) => each.key !== key));
  const added = now.filter(({ key }) => before.every((each) => each.key !== key));
  const [old] = removed;
  const [fresh] = added;
  if (before.length === 1 && now.length === 1 && old !== undefined && fresh !== undefined) {
    return [difference(field, old.text, fresh.text)];
  }
  if (old === undefined && fresh === undefined) return reordered(facet, before, now);
  return [
    ...removed.map(({ text }) => difference(field, text, null)),
    ...added.map(({ text }) => difference(field, null, text)),
  ];
}

/** The difference of lists with the same entries, whose order may differ. */
function reordered({ field, ordered }: Facet, before: readonly ShownValue[], now: readonly ShownValue[]): Difference[] {
  if (ordered !== true || now.every(({ key }, at) => before[at]?.key === key)) return [];
  const print = (all: readonly ShownValue[]): string => all.map(({ text }) => text).join(', ');
  return [difference(field, print(before), print(now))];
}

function compareJob({ at: oldAt, ...before }: JobPlan, { at: newAt, ...now }: JobPlan): ConfigChange[] {
  return settings('job', now.name, before, now).map((change) => ({ ...change, old_at: oldAt, new_at: newAt }));
}

/** Compares two objects setting by setting; nested settings have dotted paths. */
function settings(subject: string, name: string, before: object, now: object): ConfigChange[] {
  const [old, fresh] = [leavesOf(before), leavesOf(now)];
  return [...new Set([...old.keys(), ...fresh.keys()])].flatMap((field) => {
    const [a, b] = [old.get(field), fresh.get(field)];
    if (a?.key === b?.key) return [];
    return [{ ...whole(subject, name, ''), ...difference(field, a?.text ?? null, b?.text ?? null) }];
  });
}

function leavesOf(value: object, path = ''): Map<string, ShownValue> {
  const leaves = new Map<string, ShownValue>();
  for (const [key, each] of Object.entries(value)) {
    const at = path === '' ? key : `${path}.${key}`;
    if (isPlainMap(each) && !isSecretRef(each)) for (const leaf of leavesOf(each, at)) leaves.set(...leaf);
    else if (each !== null) leaves.set(at, shown(each, Array.isArray(each) && each.length === 0 ? 'none' : undefined));
  }
  return leaves;
}

/** Compares definitions from the catalog, without saying what differs in them. */
function definitions(subject: string, before: Entries<object>, now: Entries<object>): ConfigChange[] {
  return Object.entries(now).flatMap(([name, entry]) => {
    const old = Object.hasOwn(before, name) ? before[name] : undefined;
    const isSame = old === undefined || shown(old).key === shown(entry).key;
    return isSame ? [] : [whole(subject, name, 'changed')];
  });
}

/** How a key of a route is compared. A key of the plan that is missing in `ROUTE_KEYS` does not compile. */
interface Facet {
  /** Key in a config. */
  readonly field: string;
  /** A single value, or the values of a list. */
  readonly read: (plan: RoutePlan) => readonly ShownValue[];
  /** The order matters: the first value takes precedence. */
  readonly ordered?: true;
}

const one = (value: unknown, text?: string): readonly ShownValue[] =>
  value === null || value === undefined ? [] : [shown(value, text)];
const list = (values: readonly string[]): readonly ShownValue[] => values.map((value) => shown(value));

const shownScheme = (plan: RoutePlan, name: string): ShownValue => shown(name, schemeLabel(plan, name));

const EVERY_EVENT = 'every event';

/** In the order in which differences are printed. `plain`: a single value, shown unchanged. */
const ROUTE_KEYS = {
  name: 'not compared',
  callback: 'not compared',
  at: 'not compared',
  enabled: 'plain',
  description: 'plain',
  profile: 'plain',
  labels: 'not compared',
  source: { field: 'source', read: (plan) => (plan.source === null ? [] : [shownScheme(plan, plan.source)]) },
  schemes: {
    field: 'auth',
    read: (plan) => plan.schemes.map((name) => shownScheme(plan, name)),
    ordered: true,
  },
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
  // The job that a route fires is compared separately.
  mode: { field: 'deliver_only', read: ({ mode }) => [shown(mode === 'cron' ? 'agent' : mode)] },
  cron_job: 'plain',
  coalesce: {
    field: 'coalesce',
    read: ({ coalesce }) => one(coalesce, coalesce === null ? '' : printCoalesce(coalesce)),
  },
  pins: { field: 'fresh', read: ({ pins }) => one(pins?.fresh, printTemplate(pins?.fresh ?? [])) },
  progress: { field: 'progress', read: ({ progress: at = [] }) => at.map((one) => shown(one, printDelivery(one))) },
  session: { field: 'session', read: ({ session }) => one(session, session === null ? '' : printSession(session)) },
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
  respond: { field: 'respond', read: ({ respond = {} }) => Object.entries(respond).map(printResponse) },
  idempotency_ttl_seconds: 'plain',
  accept_timeout_seconds: 'plain',
  replay_guard: 'plain',
  max_age: {
    field: 'max_age_seconds',
    read: ({ max_age }) =>
      max_age === null ? [] : [shown(max_age, `${max_age.seconds} s after ${printField(max_age.time)}`)],
  },
  capture: 'plain',
} satisfies Record<keyof RoutePlan, Facet | 'plain' | 'not compared'>;

const ROUTE_FACETS: readonly Facet[] = Object.entries<Facet | 'plain' | 'not compared'>(ROUTE_KEYS).flatMap(
  ([key, facet]) => {
    if (facet === 'not compared') return [];
    return facet === 'plain' ? { field: key, read: (plan) => one(plan[key as keyof RoutePlan]) } : facet;
  },
);

function printResponse([outcome, plan]: [string, ResponsePlan]): ShownValue {
  const { status, body, content_type } = plan;
  const parts = [
    status,
    body === null ? null : content_type,
    body === null ? null : JSON.stringify(printTemplate(body)),
  ];
  return shown(plan, `${outcome}: ${parts.filter((part) => part !== null).join(' ')}`);
}

const printSession = ({ key, scope, on_newer }: NonNullable<RoutePlan['session']>): string =>
  `${printTemplate(key)}${scope === null ? '' : ` in ${scope}`}${on_newer === undefined ? '' : `; on_newer ${on_newer}`}`;

function printBudget({ per, ...limits }: NonNullable<RoutePlan['budget']>): string {
  const most = Object.entries(limits).flatMap(([what, limit]) => (limit === null ? [] : [`${limit} ${what}`]));
  return `${most.join(', ')} per ${per}`;
}

function printDelivery({ extra, approve_ms, ...delivery }: DeliveryPlan): string {
  const address = Object.entries(extra).map(([key, template]) => `${key}=${printTemplate(template)}`);
  const waits =
    approve_ms === undefined ? [] : [`after a person approves the message within ${approve_ms / 60_000} min`];
  return [targetLabel(delivery), ...address, ...waits].join(' ');
}

function printOutput({ name, delivery, allow, max }: OutputPlan): string {
  const allowed = Object.entries(allow).map(([field, values]) => `${field} of ${values.join(', ')}`);
  return [`${name} to ${printDelivery(delivery)}`, ...allowed, `at most ${max}`].join('; ');
}

function printCoalesce({ key, window_seconds, max_wait_seconds, all }: NonNullable<RoutePlan['coalesce']>): string {
  const captured =
    all === undefined ? '' : `, all of them, at most ${all.max_events}, each as ${printTemplate(all.each)}`;
  return `${printTemplate(key)} for ${window_seconds} s, at most ${max_wait_seconds} s${captured}`;
}

/** Values of a table as text, with a key for comparison: secrets are compared but never shown. */
interface ShownValue {
  /** Equal for values that mean the same. */
  readonly key: string;
  readonly text: string;
}

/** Any JSON value; secret references in it are named, literal ones hidden. */
function shown(value: unknown, text?: string): ShownValue {
  const readable = text ?? withoutSecrets(value);
  return { key: stableJson(value), text: typeof readable === 'string' ? readable : stableJson(readable) };
}

/** JSON that depends neither on the order of keys nor on the aliases of targets in the config. */
function stableJson(value: unknown): string {
  return JSON.stringify(value, (_key, each: unknown) =>
    isPlainMap(each)
      ? Object.fromEntries(
          Object.entries(isDelivery(each) ? { ...each, label: undefined } : each).sort(([a], [b]) => (a < b ? -1 : 1)),
        )
      : each,
  );
}

const isDelivery = (value: Readonly<Record<string, unknown>>): value is { target: string; label: string } =>
  typeof value.target === 'string' && typeof value.label === 'string';

function withoutSecrets(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutSecrets);
  if (!isPlainMap(value)) return value;
  if (isSecretRef(value)) return printSecretRef(value);
  if (isDelivery(value)) return withoutSecrets({ ...value, target: value.label, label: undefined });
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, withoutSecrets(each)]));
}
