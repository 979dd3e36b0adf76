/** Derives facts about the payloads of a route from the shapes of its events. */
import { schemeLabel } from '../../../../base/text.ts';
import type { Problem } from '../../../../compiler/diagnostics/diagnostic.ts';
import { linkGlob } from '../../../../compiler/globs/linear-glob.ts';
import { lowerEvents } from '../../../../compiler/lower/route.ts';
import { expandSource } from '../../../../compiler/lower/sources.ts';
import type { PayloadInput } from '../../../../compiler/module.ts';
import type { Report } from '../../../../compiler/source/find-place.ts';
import type { LoadedCatalog } from '../../../../compiler/stages/catalog.ts';
import type { PayloadFacts, RouteView } from '../../../../compiler/views/views.ts';
import type { EventsPlan, RouteConfig, SourceFile, TargetEffect } from '../../../../schemas/generated/types.ts';
import type { FieldClass } from '../shapes/classify.ts';
import { classify } from '../shapes/classify.ts';
import type { FormSet } from '../shapes/form-set.ts';
import { createFormSet, findPath, isForm } from '../shapes/form-set.ts';
import { itemShape } from '../shapes/item-shape.ts';
import type { Shape } from '../shapes/shape.ts';
import { ANY_EVENT, isUntrusted } from '../shapes/shape.ts';
import { readShippedShape } from '../shapes/shape-file.ts';
import { checkTemplates } from './check-templates.ts';
import { narrowByFilters } from './narrow.ts';
import { readOwnShapes } from './own-shapes.ts';

/** The module's rules use more of it than the core does: see `payloadsOf`. */
export class Payloads implements Omit<PayloadFacts, 'readsStrangers' | 'reachOf'> {
  private readonly senders: Senders;
  private readonly catalog: LoadedCatalog;
  private readonly acting: ReadonlySet<string>;
  /** By config, because all views of a route share it. */
  private readonly checked = new WeakMap<RouteConfig, Checked>();
  private readonly forms = new Map<string, FormSet | null>();

  constructor(catalog: LoadedCatalog, findShape: FindShape) {
    this.senders = createSenders(catalog.sources, findShape);
    this.catalog = catalog;
    this.acting = new Set(catalog.actingToolsets);
  }

  /** The problems of the route's paths into payloads, and of its filters. */
  problemsOf(route: RouteView): readonly Problem[] {
    return this.check(route).problems;
  }

  /**
   * The event forms that pass the route's filters, whose payloads its templates see. Null if they are unknown, or if a
   * script may replace the payload.
   */
  seenBy(route: RouteView): FormSet | null {
    return this.check(route).seen;
  }

  /** The class of a placeholder in the route's templates. @param path empty for the whole payload */
  classOf(route: RouteView, path: readonly string[]): FieldClass {
    return classify(this.seenBy(route), path);
  }

  isUntrusted(route: RouteView, path: readonly string[]): boolean {
    return isUntrusted(this.classOf(route, path).class);
  }

  isAlwaysSent(route: RouteView, path: readonly string[]): boolean {
    const found = this.seenBy(route)?.find(path) ?? null;
    return found?.every((each) => each.kind === 'node' && !each.optional) === true;
  }

  mayHave(route: RouteView, paths: readonly (readonly string[])[]): boolean {
    const { forms = [], find } = this.seenBy(route) ?? {};
    const found = paths.map((path) => find?.(path) ?? []);
    return forms.length === 0 || forms.some((_, form) => found.every((matches) => matches[form]?.kind !== 'absent'));
  }

  /** Whether a run with this toolset can change things outside its answer. True for unknown toolsets. */
  acts(toolset: string): boolean {
    return this.acting.has(toolset) || !Object.hasOwn(this.catalog.toolsets, toolset);
  }

  /** Events that senders send because of a delivery. @param target canonical name */
  causedBy(target: string): readonly TargetEffect[] {
    return this.catalog.targets.get(target)?.value.causes ?? [];
  }

  /** Whether the route may receive an event that a delivery causes, regardless of filters on its author. */
  mayReceive(route: RouteView, effect: TargetEffect): boolean {
    const sender = this.senders.byScheme(effect.source);
    const isFrom = route.schemes.some(({ name }) => sender?.schemes.has(name));
    // A script may filter the events out.
    if (!isFrom || route.config.script !== undefined) return false;
    const set = this.seenBy(route);
    if (set !== null) return set.forms.some((form) => isForm(form, effect));
    return pinnedSender(route, this.senders) !== null && acceptsAny(route, effect.events);
  }

  shapedEvents(route: RouteView): readonly string[] {
    const variants = pinnedSender(route, this.senders)?.forms(route)?.shape.variants ?? [];
    const names = [...new Set(variants.map(({ event }) => event))];
    return names.includes(ANY_EVENT) ? [] : names;
  }

  senderOf(route: RouteView, event: string): string | null {
    const [sender, other] = this.senders
      .sending((name) => name === event)
      .filter(({ schemes }) => route.schemes.some(({ name }) => schemes.has(name)));
    return sender === undefined || other !== undefined ? null : schemeLabel(route, sender.name);
  }

  hasPath(route: RouteView, event: string, path: readonly string[]): boolean {
    const set = pinnedSender(route, this.senders)?.forms(route) ?? null;
    const forms = set?.shape.variants.filter((form) => form.event === event) ?? [];
    return forms.some(({ root }) => set !== null && findPath(set.shape.graph, root, path).kind === 'node');
  }

  private check(route: RouteView): Checked {
    const checked = this.checked.get(route.config) ?? checkPaths(route, this.formsOf(route));
    this.checked.set(route.config, checked);
    return checked;
  }

  private formsOf(route: RouteView): FormSet | null {
    // Everything that the forms depend on.
    const { source, events, auth } = route.config;
    const key = JSON.stringify([source, events, auth]);
    const before = this.forms.get(key);
    const set = before === undefined ? formsOf(route, this.senders) : before;
    this.forms.set(key, set);
    return set;
  }
}

/** Shapes of the config's own sources are read at once, shipped ones when a route uses the source. */
export function createPayloads({ catalog, ...input }: PayloadInput, report: Report): Payloads {
  const own = readOwnShapes(catalog.sources, input, report);
  return new Payloads(catalog, (source) => {
    const isShipped = catalog.sources.get(source)?.written === null;
    return own.get(source) ?? (isShipped ? readShippedShape(source) : null);
  });
}

/** Null where payload shapes are unavailable, as in a running gateway. */
export const payloadsOf = ({ scope }: RouteView): Payloads | null =>
  scope.payloads instanceof Payloads ? scope.payloads : null;

interface Checked {
  readonly problems: readonly Problem[];
  readonly seen: FormSet | null;
}

function checkPaths({ config }: RouteView, set: FormSet | null): Checked {
  const filters = narrowByFilters(set, config.filters ?? []);
  const found = filters.problems.map((problem) => ({
    ...problem,
    path: ['filters', ...problem.path],
    ...(problem.related === undefined
      ? {}
      : { related: problem.related.map((each) => ({ ...each, path: ['filters', ...each.path] })) }),
  }));
  // A script may replace the payload with anything.
  const seen = config.script === undefined ? filters.set : null;
  return { problems: seen === null ? found : [...found, ...checkTemplates(seen, config)], seen };
}

/** Returns null if the sender or the forms of its events are unknown. */
function formsOf(route: RouteView, senders: Senders): FormSet | null {
  const entries = route.config.events ?? [];
  const { plan } = lowerEvents(entries, route.eventNames);
  if (plan === null) return null;
  const sender = route.config.source === undefined ? soleSender(route, senders) : pinnedSender(route, senders);
  const all = sender?.forms(route) ?? null;
  return sender === null || all === null ? null : ofEvents(all, plan, sender);
}

/** Returns null if the route names no source. */
function pinnedSender({ config, scope }: RouteView, senders: Senders): Sender | null {
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
function acceptsAny({ config, eventNames }: RouteView, events: readonly string[]): boolean {
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

/** Returns the payload shape of a source by its canonical name, or null if it is unknown. */
type FindShape = (source: string) => Shape | null;

interface Sender {
  /** Canonical name. */
  readonly name: string;
  /** Canonical names of its schemes. A sender may have several ways to sign. */
  readonly schemes: ReadonlySet<string>;
  /** Documented events; empty if unknown. */
  readonly events: readonly string[];
  /** With the name that the route has for it. Loads the shape on the first call; null if there is none. */
  forms(route: Pick<RouteView, 'labels'>): FormSet | null;
}

interface Senders {
  byScheme(scheme: string): Sender | null;
  /** All senders that document an event for which `passes` is true. */
  sending(passes: (event: string) => boolean): readonly Sender[];
}

/** @param sources by canonical name */
function createSenders(sources: ReadonlyMap<string, { readonly value: SourceFile }>, findShape: FindShape): Senders {
  const senders = [...sources].map(([name, { value }]) => createSender(name, value, findShape));
  const byScheme = new Map(senders.flatMap((sender) => [...sender.schemes].map((scheme) => [scheme, sender] as const)));
  return {
    byScheme: (scheme) => byScheme.get(scheme) ?? null,
    sending: (passes) => senders.filter(({ events }) => events.some(passes)),
  };
}

function createSender(name: string, file: SourceFile, findShape: FindShape): Sender {
  const sets = new Map<string, FormSet | null>();
  return {
    name,
    schemes: new Set(expandSource(name, file).map((entry) => entry.name)),
    events: file.events ?? [],
    forms(route) {
      const source = schemeLabel(route, name);
      let set = sets.get(source);
      if (set === undefined) {
        const shape = findShape(name);
        set = shape === null ? null : createFormSet({ ...itemShape(shape, file), source });
        sets.set(source, set);
      }
      return set;
    },
  };
}
