/** Compares the meaning of two compiled tables: routes key by key, and everything else value by value. */
import type { Labelled } from '../../../../base/label.ts';
import { labelOf } from '../../../../base/label.ts';
import { isPlainMap } from '../../../../compiler/text/plain-map.ts';
import { isSecretRef } from '../../../../runtime/platform/secrets/secret-refs.ts';
import type { DeliveryPlan, JobPlan, Place, RoutePlan, RouteTable } from '../../../../schemas/generated/types.ts';
import type { Facet } from './route-facets.ts';
import { ROUTE_FACETS } from './route-facets.ts';
import type { ShownValue } from './shown.ts';
import { shown } from './shown.ts';

/** One difference in meaning between two tables. */
export interface ConfigChange {
  /** The kind of its subject: `route`, `job`, `target`, `agent`, `server`, `gateway`, … */
  readonly subject: string;
  readonly name: string;
  /** Its key in the configuration; null: the whole entry. */
  readonly field: string | null;
  /** `events: push → –`, or what became of the whole entry. */
  readonly sentence: string;
  /** The old and the new value as text; null: there is none. Secrets are named, never shown. */
  readonly old: string | null;
  readonly new: string | null;
  /** Where the entry is written. */
  readonly old_at: Place | null;
  readonly new_at: Place | null;
}

/** In the order of the new table; removed entries last. Empty if both mean the same. */
export function compareTables(old: RouteTable, fresh: RouteTable): ConfigChange[] {
  const { before, now } = relabelled(old, fresh);
  return [
    ...entries('route', before.routes, now.routes, compareRoute),
    ...entries('job', before.jobs, now.jobs, compareJob),
    ...settings('server', '', before.server, now.server),
    ...settings('gateway', '', before.gateway, now.gateway),
    ...entries('profile', before.profiles, now.profiles, (a, b) => [
      ...settings('agent', b.name, a.agent, b.agent),
      ...entries('agent', a.agents, b.agents, (x, y, name) => settings('agent', name, x, y)),
      ...settings('profile', b.name, { toolsets: a.toolsets }, { toolsets: b.toolsets }),
      ...entries('target', a.targets, b.targets, (x, y, name) => settings('target', name, x, y)),
    ]),
    ...definitions('target definition', before.targets, now.targets),
    ...definitions('signature scheme', before.schemes, now.schemes),
    ...definitions('blueprint', before.blueprints, now.blueprints),
  ];
}

type Entries<Entry> = Readonly<Record<string, Entry>>;

function entries<Entry extends object>(
  subject: string,
  before: Entries<Entry>,
  now: Entries<Entry>,
  compare: (before: Entry, now: Entry, name: string) => readonly ConfigChange[],
): ConfigChange[] {
  const kept = Object.entries(now).flatMap(([name, entry]): readonly ConfigChange[] => {
    const old = Object.hasOwn(before, name) ? before[name] : undefined;
    if (old !== undefined) return compare(old, entry, name);
    return [{ ...whole(subject, name, 'new'), new_at: placeOf(entry) }];
  });
  const removed = Object.entries(before).flatMap(([name, entry]) =>
    Object.hasOwn(now, name) ? [] : [{ ...whole(subject, name, 'removed'), old_at: placeOf(entry) }],
  );
  return [...kept, ...removed];
}

function whole(subject: string, name: string, sentence: string): ConfigChange {
  return { subject, name, field: null, sentence, old: null, new: null, old_at: null, new_at: null };
}

/** A text of several lines is printed as a diff below it; two literal secrets look the same. */
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

/** Lists with the same entries, whose order may differ. */
function reordered({ field, ordered }: Facet, before: readonly ShownValue[], now: readonly ShownValue[]): Difference[] {
  if (ordered !== true || now.every(({ key }, at) => before[at]?.key === key)) return [];
  const print = (all: readonly ShownValue[]): string => all.map(({ text }) => text).join(', ');
  return [difference(field, print(before), print(now))];
}

function compareJob({ at: oldAt, ...before }: JobPlan, { at: newAt, ...now }: JobPlan): ConfigChange[] {
  return settings('job', now.name, before, now).map((change) => ({ ...change, old_at: oldAt, new_at: newAt }));
}

/** Two objects, setting by setting; nested ones by their dotted path. */
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

/** Definitions from the catalog: that one differs is enough. */
function definitions(subject: string, before: Entries<object>, now: Entries<object>): ConfigChange[] {
  return Object.entries(now).flatMap(([name, entry]) => {
    const old = Object.hasOwn(before, name) ? before[name] : undefined;
    const isSame = old === undefined || shown(old).key === shown(entry).key;
    return isSame ? [] : [whole(subject, name, 'changed')];
  });
}

type Named = Readonly<Record<string, Labelled>>;
type Rename = (name: string) => string;

/**
 * Gives targets and schemes of both tables the same display names, so that an alias is not a difference. If both tables
 * name it, the name of the new one is used.
 */
function relabelled(before: RouteTable, now: RouteTable): { readonly before: RouteTable; readonly now: RouteTable } {
  const target = renaming(before.targets, now.targets);
  const scheme = renaming(before.schemes, now.schemes);
  return { before: rename(before, target, scheme), now: rename(now, target, scheme) };
}

/** By canonical name. */
function renaming(before: Named, now: Named): Rename {
  const labels = new Map([...Object.values(before), ...Object.values(now)].map((plan) => [plan.name, labelOf(plan)]));
  return (name) => labels.get(name) ?? name;
}

function rename(table: RouteTable, target: Rename, scheme: Rename): RouteTable {
  const named = (delivery: DeliveryPlan): DeliveryPlan => ({ ...delivery, target: target(delivery.target) });
  const deliver = <Owner extends { readonly deliver: readonly DeliveryPlan[] }>(owner: Owner) => ({
    ...owner,
    deliver: owner.deliver.map(named),
  });
  const work = <Owner extends RoutePlan | JobPlan>({ outputs, ...owner }: Owner) => ({
    ...deliver(owner),
    on_failure: owner.on_failure.map(named),
    ...(outputs === undefined
      ? {}
      : { outputs: outputs.map((output) => ({ ...output, delivery: named(output.delivery) })) }),
  });
  const { alerts, approvals, ...gateway } = table.gateway;
  return {
    ...table,
    gateway: {
      ...gateway,
      alerts: alerts === null ? null : deliver(alerts),
      ...(approvals === undefined ? {} : { approvals: deliver(approvals) }),
    },
    routes: mapEntries(table.routes, (route) => ({ ...work(route), schemes: route.schemes.map(scheme) })),
    jobs: mapEntries(table.jobs, work),
    profiles: mapEntries(table.profiles, (profile) => ({ ...profile, targets: mapKeys(profile.targets, target) })),
    targets: mapKeys(mapEntries(table.targets, withoutLabel), target),
    schemes: mapKeys(mapEntries(table.schemes, withoutLabel), scheme),
  };
}

function withoutLabel<Plan extends Labelled>({ label: _, ...plan }: Plan): Omit<Plan, 'label'> {
  return plan;
}

function mapEntries<Entry, Mapped>(map: Readonly<Record<string, Entry>>, make: (entry: Entry) => Mapped) {
  return Object.fromEntries(Object.entries(map).map(([key, entry]) => [key, make(entry)]));
}

function mapKeys<Entry>(map: Readonly<Record<string, Entry>>, make: Rename) {
  return Object.fromEntries(Object.entries(map).map(([key, entry]) => [make(key), entry]));
}
