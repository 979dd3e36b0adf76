/** Compares the meaning of two compiled tables: routes key by key, in sentences, and everything else value by value. */
import { isSecretRef } from '../../../../runtime/platform/secrets/secret-refs.ts';
import type { JobPlan, Place, RoutePlan, RouteTable } from '../../../../schemas/generated/types.ts';
import type { ConfigChange } from './change.ts';
import type { Facet } from './describe-route.ts';
import { ROUTE_FACETS } from './describe-route.ts';
import { relabelled } from './relabel.ts';
import type { ShownValue } from './shown.ts';
import { isObject, shown } from './shown.ts';

/** In the order of the new table; removed entries last. Empty if both mean the same. */
export function compareTables(old: RouteTable, fresh: RouteTable): ConfigChange[] {
  const { before, now } = relabelled(old, fresh);
  return [
    ...entries(before.routes, now.routes, { subject: 'route', gone: 'its events are answered 404' }, compareRoute),
    ...entries(before.jobs, now.jobs, { subject: 'job', gone: 'it does not run any more' }, compareJob),
    ...settings('server', '', before.server, now.server),
    ...settings('gateway', '', before.gateway, now.gateway),
    ...entries(
      before.profiles,
      now.profiles,
      { subject: 'profile', gone: 'nothing runs under it any more' },
      (a, b) => [
        ...settings('agent', b.name, a.agent, b.agent),
        ...settings('profile', b.name, { toolsets: a.toolsets }, { toolsets: b.toolsets }),
        ...entries(
          a.targets,
          b.targets,
          { subject: 'target', gone: 'what waits for it is tried again for a while, then given up' },
          (x, y, name) => settings('target', name, x, y),
        ),
      ],
    ),
    ...definitions('target definition', withoutLabels(before.targets), withoutLabels(now.targets)),
    ...definitions('signature scheme', withoutLabels(before.schemes), withoutLabels(now.schemes)),
    ...definitions('blueprint', before.blueprints, now.blueprints),
  ];
}

interface Kind {
  readonly subject: string;
  /** The consequence of removing an entry. */
  readonly gone: string;
}

type Entries<Entry> = Readonly<Record<string, Entry>>;

function entries<Entry extends object>(
  before: Entries<Entry>,
  now: Entries<Entry>,
  { subject, gone }: Kind,
  compare: (before: Entry, now: Entry, name: string) => readonly ConfigChange[],
): ConfigChange[] {
  const kept = Object.entries(now).flatMap(([name, entry]): readonly ConfigChange[] => {
    const old = Object.hasOwn(before, name) ? before[name] : undefined;
    if (old !== undefined) return compare(old, entry, name);
    return [{ ...whole(subject, name), sentence: 'it is new', new_at: placeOf(entry) }];
  });
  const removed = Object.entries(before).flatMap(([name, entry]) =>
    Object.hasOwn(now, name)
      ? []
      : [{ ...whole(subject, name), sentence: `it is gone: ${gone}`, old_at: placeOf(entry) }],
  );
  return [...kept, ...removed];
}

const whole = (subject: string, name: string): Omit<ConfigChange, 'sentence'> => ({
  ...{ subject, name, field: null, old: null, new: null, old_at: null, new_at: null },
});

const placeOf = (entry: object): Place | null => ('at' in entry ? (entry.at as Place) : null);

function compareRoute(before: RoutePlan, now: RoutePlan): ConfigChange[] {
  return ROUTE_FACETS.flatMap((facet) => compareFacet(facet, facet.read(before), facet.read(now))).map((change) => ({
    ...{ subject: 'route', name: now.name, old_at: before.at, new_at: now.at },
    ...change,
  }));
}

type Difference = Pick<ConfigChange, 'field' | 'sentence' | 'old' | 'new'>;

function compareFacet(facet: Facet, before: readonly ShownValue[], now: readonly ShownValue[]): Difference[] {
  const { field } = facet;
  const removed = before.filter(({ key }) => now.every((each) => each.key !== key));
  const added = now.filter(({ key }) => before.every((each) => each.key !== key));
  const [old] = removed;
  const [fresh] = added;
  if (before.length === 1 && now.length === 1 && old !== undefined && fresh !== undefined) {
    return [{ field, sentence: facet.changed(old.text, fresh.text), old: old.text, new: fresh.text }];
  }
  if (old === undefined && fresh === undefined) return reordered(facet, before, now);
  return [
    ...removed.map(({ text }) => ({ field, sentence: facet.removed(text), old: text, new: null })),
    ...added.map(({ text }) => ({ field, sentence: facet.added(text), old: null, new: text })),
  ];
}

/** Lists with the same entries, whose order may differ. */
function reordered({ field, ordered }: Facet, before: readonly ShownValue[], now: readonly ShownValue[]): Difference[] {
  if (ordered !== true || now.every(({ key }, at) => before[at]?.key === key)) return [];
  const print = (all: readonly ShownValue[]): string => all.map(({ text }) => text).join(', ');
  return [{ field, sentence: `the order of its ${field} is another`, old: print(before), new: print(now) }];
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
    const place = { ...whole(subject, name), field, old: a?.text ?? null, new: b?.text ?? null };
    return [{ ...place, sentence: settingSentence(field, a?.text, b?.text) }];
  });
}

function settingSentence(field: string, before: string | undefined, now: string | undefined): string {
  if (before === undefined) return `${field} is now set: ${now}`;
  if (now === undefined) return `${field} is no longer set; it was ${before}`;
  // Two literal secrets look the same.
  return before === now ? `${field} is another one` : `${field} is ${now} instead of ${before}`;
}

function leavesOf(value: object, path = ''): Map<string, ShownValue> {
  const leaves = new Map<string, ShownValue>();
  for (const [key, each] of Object.entries(value)) {
    const at = path === '' ? key : `${path}.${key}`;
    if (isObject(each) && !isSecretRef(each)) for (const leaf of leavesOf(each, at)) leaves.set(...leaf);
    else if (each !== null) leaves.set(at, shown(each));
  }
  return leaves;
}

/** By another of its names it is the same. */
const withoutLabels = (plans: Entries<{ readonly label?: string }>): Entries<object> =>
  Object.fromEntries(Object.entries(plans).map(([name, { label: _, ...plan }]) => [name, plan]));

/** What the catalog brings: that it differs is enough. */
function definitions(subject: string, before: Entries<object>, now: Entries<object>): ConfigChange[] {
  return Object.entries(now).flatMap(([name, entry]) => {
    const old = Object.hasOwn(before, name) ? before[name] : undefined;
    const isSame = old === undefined || shown(old).key === shown(entry).key;
    return isSame ? [] : [{ ...whole(subject, name), sentence: 'its definition differs' }];
  });
}
