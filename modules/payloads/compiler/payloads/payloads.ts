/** Answers questions of rules about the payloads of a route, from the shapes of its events. */

import type { Problem } from '../../../../compiler/diagnostics/problem.ts';
import type { Effects, Payloads, RouteView } from '../../../../compiler/views/route-scope.ts';
import type { RouteConfig } from '../../../../schemas/generated/types.ts';
import { classify } from '../shapes/classify.ts';
import { findPath } from '../shapes/find-path.ts';
import type { FormSet } from '../shapes/form-set.ts';
import { isForm } from '../shapes/form-set.ts';
import { ANY_EVENT } from '../shapes/shape.ts';
import { checkTemplates } from './check-templates.ts';
import { narrowByFilters } from './narrow.ts';
import { acceptsAny, formsOf, pinnedSender } from './route-forms.ts';
import type { Senders } from './senders.ts';

export function createPayloads(senders: Senders, effects: Effects): Payloads {
  // By config, because all views of a route share it.
  const known = new WeakMap<RouteConfig, Checked>();
  const sets = new Map<string, FormSet | null>();
  const formsOnce = (route: RouteView): FormSet | null => {
    // Everything that the forms depend on.
    const { source, events, auth } = route.config;
    const key = JSON.stringify([source, events, auth]);
    const before = sets.get(key);
    const set = before === undefined ? formsOf(route, senders) : before;
    sets.set(key, set);
    return set;
  };
  const check = (route: RouteView): Checked => {
    const checked = known.get(route.config) ?? checkRoute(route, formsOnce(route));
    known.set(route.config, checked);
    return checked;
  };
  return {
    problemsOf: (route) => check(route).problems,
    seenBy: (route) => check(route).seen,
    effects,
    mayReceive(route, effect) {
      const sender = senders.byScheme(effect.source);
      const isFrom = route.schemes.some(({ name }) => sender?.schemes.has(name));
      // A script may filter the events out.
      if (!isFrom || route.config.script !== undefined) return false;
      const set = check(route).seen;
      if (set !== null) return set.forms.some((form) => isForm(form, effect));
      return pinnedSender(route, senders) !== null && acceptsAny(route, effect.events);
    },
    classOf: (route, path) => classify(check(route).seen, path),
    shapedEvents(route) {
      const variants = pinnedSender(route, senders)?.forms()?.shape.variants ?? [];
      const names = [...new Set(variants.map(({ event }) => event))];
      return names.includes(ANY_EVENT) ? [] : names;
    },
    senderOf(route, event) {
      const [sender, other] = senders
        .sending((name) => name === event)
        .filter(({ schemes }) => route.schemes.some(({ name }) => schemes.has(name)));
      return sender === undefined || other !== undefined ? null : sender.name;
    },
    hasPath(route, event, path) {
      const set = pinnedSender(route, senders)?.forms() ?? null;
      const forms = set?.shape.variants.filter((form) => form.event === event) ?? [];
      return forms.some(({ root }) => set !== null && findPath(set.shape.graph, root, path).kind === 'node');
    },
  };
}

interface Checked {
  readonly problems: readonly Problem[];
  readonly seen: FormSet | null;
}

function checkRoute({ config }: RouteView, set: FormSet | null): Checked {
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
