/** A route that is triggered by its own deliveries. */

import type { Problem } from '../../../../compiler/diagnostics/problem.ts';
import { deliverPath, deliveryTargets } from '../../../../compiler/rules/support/targets.ts';
import type { ViewRule } from '../../../../compiler/rules/support/view-rule.ts';
import { atRoute } from '../../../../compiler/rules/support/view-rule.ts';
import { findJobs } from '../../../../compiler/views/find-job.ts';
import type { RouteView } from '../../../../compiler/views/route-scope.ts';
import type { TargetEffect } from '../../../../schemas/generated/types.ts';
import { isForm } from '../shapes/form-set.ts';
import { rejectsOwnEvents } from '../untrusted/own-answers.ts';

export const selfTrigger = {
  id: 'self-trigger',
  checkRoute(route): readonly Problem[] {
    const { payloads } = route.scope;
    if (payloads === null || route.config.enabled === false) return [];
    return targetsOf(route).flatMap(({ target, name, index }): readonly Problem[] => {
      const effect = payloads.effects.causedBy(target).find((each) => comesBack(route, each, index));
      return effect === undefined ? [] : [problem(route, name, index, effect)];
    });
  },
} as const satisfies ViewRule;

interface NamedTarget {
  readonly target: string;
  readonly name: string;
  /** Undefined for a target of the job that the route triggers. */
  readonly index?: number | null;
}

function targetsOf(route: RouteView): readonly NamedTarget[] {
  const { jobs } = route.scope.table;
  if (route.mode === 'cron')
    return findJobs(route, route.config.cron_job ?? '').flatMap(({ id }) =>
      (jobs[id]?.deliver ?? []).map(({ target }) => ({ target, name: target })),
    );
  return route.targets.flatMap(({ target, name, index }) => (target === null ? [] : [{ target, name, index }]));
}

function comesBack(route: RouteView, effect: TargetEffect, index: number | null | undefined): boolean {
  const { payloads } = route.scope;
  if (payloads === null || !payloads.mayReceive(route, effect)) return false;
  const set = payloads.seenBy(route);
  const forms = set?.pick(set.forms.flatMap((form, at) => (isForm(form, effect) ? [at] : []))) ?? null;
  return !rejectsOwnEvents(route.config.filters ?? [], forms, effect, placeOf(route, effect, index));
}

/** The destination of the delivery, if it is the same for every event. */
function placeOf(
  { config, scope }: RouteView,
  { place }: TargetEffect,
  index: number | null | undefined,
): string | null {
  if (place === undefined || index === undefined) return null;
  const target = deliveryTargets(config, scope.table).find((each) => each.index === index);
  const text = target?.extra.get(place.extra)?.text;
  return text === undefined || text.includes('{') ? null : text;
}

function problem(route: RouteView, name: string, index: number | null | undefined, effect: TargetEffect): Problem {
  const event = effect.events.map((each) => `\`${each}\``).join(', ');
  const whose = index === undefined ? `the job \`${route.config.cron_job}\`` : 'the route';
  const message = `what ${whose} delivers to \`${name}\` comes back as ${event}, which the route accepts: it triggers itself`;
  const hint = `exclude them: \`${filterFor(effect)}\``;
  if (index === undefined) return atRoute('self-trigger', message, hint);
  return { rule: 'self-trigger', path: deliverPath(index), at: 'value', message, hint };
}

function filterFor({ author: [field = ''], absent: [absent] = [] }: TargetEffect): string {
  if (absent !== undefined) return `{ field: ${absent}, exists: true }`;
  return `{ field: ${field}, not_equals: <the account it posts as> }`;
}
