/** Determines the event forms of a route. They are known if the route names a source, or if only one sender has its events. */

import { linkGlob } from '../../../../compiler/globs/linear-glob.ts';
import { lowerEvents } from '../../../../compiler/lower/events.ts';
import type { RouteView } from '../../../../compiler/views/views.ts';
import type { EventsPlan } from '../../../../schemas/generated/types.ts';
import type { FormSet } from '../shapes/form-set.ts';
import { ANY_EVENT } from '../shapes/shape.ts';
import type { Sender, Senders } from './senders.ts';

/** Returns null if the sender or the forms of its events are unknown. */
export function formsOf(route: RouteView, senders: Senders): FormSet | null {
  const entries = route.config.events ?? [];
  const { plan } = lowerEvents(entries, route.eventNames);
  if (plan === null) return null;
  const sender = route.config.source === undefined ? soleSender(route, senders) : pinnedSender(route, senders);
  const all = sender?.forms() ?? null;
  return sender === null || all === null ? null : ofEvents(all, plan, sender);
}

/** Returns null if the route names no source. */
export function pinnedSender({ config, scope }: RouteView, senders: Senders): Sender | null {
  const { sources } = scope.table;
  const name = config.source ?? '';
  return Object.hasOwn(sources, name) ? senders.byScheme(sources[name]?.scheme ?? '') : null;
}

/** The only sender that documents the events in `events`, if the route accepts its signatures. */
function soleSender({ config, schemes, eventNames }: RouteView, senders: Senders): Sender | null {
  const entries = (config.events ?? []).map((entry) => {
    const matchers = matchersOf(lowerEvents([entry], eventNames).plan ?? { exact: [], globs: [] });
    return senders.sending((event) => matchers.some((passes) => passes(event)));
  });
  const [first] = entries[0] ?? [];
  if (first === undefined || entries.some((found) => found.length !== 1 || found[0] !== first)) return null;
  return schemes.some(({ name }) => first.schemes.has(name)) ? first : null;
}

/** Whether the route's `events` accept at least one of these events. */
export function acceptsAny({ config, eventNames }: RouteView, events: readonly string[]): boolean {
  const { plan } = lowerEvents(config.events ?? [], eventNames);
  const matchers = plan === null ? [] : matchersOf(plan);
  return plan !== null && (matchers.length === 0 || events.some((event) => matchers.some((passes) => passes(event))));
}

type Matcher = (event: string) => boolean;

const matchersOf = ({ exact, globs, names = {} }: EventsPlan): readonly Matcher[] => [
  ...[...exact, ...Object.keys(names)].map(
    (name): Matcher =>
      (event) =>
        event === name,
  ),
  ...globs.map(({ source }): Matcher => linkGlob(source)),
];

/** Returns null if an event without a known form is possible. */
function ofEvents(all: FormSet, plan: EventsPlan, { events }: Sender): FormSet | null {
  const { shape, forms } = all;
  const known = new Set(forms.map(({ event }) => event));
  if (known.has(ANY_EVENT)) return shape.quality === 'partial' ? null : all;
  const matchers = matchersOf(plan);
  const isTaken: Matcher = matchers.length === 0 ? () => true : (event) => matchers.some((passes) => passes(event));
  if (matchers.length === 0 && shape.quality === 'partial') return null;
  const isUnknown = (event: string): boolean => isTaken(event) && !known.has(event);
  const further = new Set(Object.values(plan.names ?? {}));
  if (plan.exact.some((event) => !further.has(event) && isUnknown(event)) || events.some(isUnknown)) return null;
  const taken = forms.flatMap(({ event }, index) => (isTaken(event) ? [index] : []));
  return taken.length === 0 ? null : all.pick(taken);
}
