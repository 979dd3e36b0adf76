/** Gives targets and schemes of two tables the same display names, so that an alias is not a difference. */
import type { Labelled } from '../../../../base/label.ts';
import { labelOf } from '../../../../base/label.ts';
import type { RouteTable } from '../../../../schemas/generated/types.ts';

type Named = Readonly<Record<string, Labelled>>;
export type Rename = (name: string) => string;

/** If both tables name it, the name of the new one is used. */
export function relabelled(
  before: RouteTable,
  now: RouteTable,
): { readonly before: RouteTable; readonly now: RouteTable } {
  const target = renaming(before.targets, now.targets);
  const scheme = renaming(before.schemes, now.schemes);
  return { before: rename(before, target, scheme), now: rename(now, target, scheme) };
}

/** By canonical name. */
export function renaming(before: Named, now: Named): Rename {
  const labels = new Map([...Object.values(before), ...Object.values(now)].map((plan) => [plan.name, labelOf(plan)]));
  return (name) => labels.get(name) ?? name;
}

function rename(table: RouteTable, target: Rename, scheme: Rename): RouteTable {
  const deliver = <Delivery extends { readonly target: string }>(deliveries: readonly Delivery[]): Delivery[] =>
    deliveries.map((delivery) => ({ ...delivery, target: target(delivery.target) }));
  return {
    ...table,
    routes: mapEntries(table.routes, (route) => ({
      ...route,
      deliver: deliver(route.deliver),
      schemes: route.schemes.map(scheme),
    })),
    jobs: mapEntries(table.jobs, (job) => ({ ...job, deliver: deliver(job.deliver) })),
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
