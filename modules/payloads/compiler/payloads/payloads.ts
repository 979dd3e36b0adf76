/** What the module knows about the payloads of a route, from the shapes of its events. */

import type { Problem } from '../../../../compiler/diagnostics/problem.ts';
import type { PayloadInput } from '../../../../compiler/module.ts';
import type { Report } from '../../../../compiler/source/report.ts';
import type { LoadedCatalog } from '../../../../compiler/stages/catalog.ts';
import type { PayloadFacts, RouteView } from '../../../../compiler/views/views.ts';
import type { RouteConfig, TargetEffect } from '../../../../schemas/generated/types.ts';
import type { FieldClass } from '../shapes/classify.ts';
import { classify } from '../shapes/classify.ts';
import { findPath } from '../shapes/find-path.ts';
import type { FormSet } from '../shapes/form-set.ts';
import { isForm } from '../shapes/form-set.ts';
import { isUntrusted } from '../shapes/leaf-class.ts';
import { ANY_EVENT } from '../shapes/shape.ts';
import { readShippedShape } from '../shapes/shipped-shapes.ts';
import { checkTemplates } from './check-templates.ts';
import { narrowByFilters } from './narrow.ts';
import { readOwnShapes } from './own-shapes.ts';
import { acceptsAny, formsOf, pinnedSender } from './route-forms.ts';
import type { FindShape, Senders } from './senders.ts';
import { createSenders } from './senders.ts';

/** Its own rules ask for more than the core does: see `payloadsOf`. */
export class Payloads implements Omit<PayloadFacts, 'readsStrangers'> {
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
    const variants = pinnedSender(route, this.senders)?.forms()?.shape.variants ?? [];
    const names = [...new Set(variants.map(({ event }) => event))];
    return names.includes(ANY_EVENT) ? [] : names;
  }

  senderOf(route: RouteView, event: string): string | null {
    const [sender, other] = this.senders
      .sending((name) => name === event)
      .filter(({ schemes }) => route.schemes.some(({ name }) => schemes.has(name)));
    return sender === undefined || other !== undefined ? null : sender.name;
  }

  hasPath(route: RouteView, event: string, path: readonly string[]): boolean {
    const set = pinnedSender(route, this.senders)?.forms() ?? null;
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
