/** A route that is triggered by its own deliveries. */

import { rule } from '../../../../compiler/rules/support/rule.ts';
import { deliverPath, deliveryTargets } from '../../../../compiler/rules/support/targets.ts';
import { findJobs } from '../../../../compiler/views/find-job.ts';
import type { Reported, RouteView } from '../../../../compiler/views/views.ts';
import type { TargetEffect } from '../../../../schemas/generated/types.ts';
import { payloadsOf } from '../payloads/payloads.ts';
import { isForm } from '../shapes/form-set.ts';
import { rejectsOwnEvents } from '../untrusted/own-answers.ts';

export const selfTrigger = rule('self-trigger', {
  route(route, report) {
    const payloads = payloadsOf(route);
    if (payloads === null || route.config.enabled === false) return;
    for (const { target, name, index } of targetsOf(route)) {
      const effect = payloads.causedBy(target).find((each) => comesBack(route, each, index));
      if (effect !== undefined) report(problem(route, name, index, effect));
    }
  },
});

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
  const payloads = payloadsOf(route);
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

function problem(route: RouteView, name: string, index: number | null | undefined, effect: TargetEffect): Reported {
  const event = effect.events.map((each) => `\`${each}\``).join(', ');
  const whose = index === undefined ? `the job \`${route.config.cron_job}\`` : 'the route';
  const message = `what ${whose} delivers to \`${name}\` comes back as ${event}, which the route accepts: it triggers itself`;
  const hint = `exclude them: \`${filterFor(effect)}\``;
  if (index === undefined) return { path: [], at: 'key', message, hint };
  return { path: deliverPath(index), at: 'value', message, hint };
}

function filterFor({ author: [field = ''], absent: [absent] = [] }: TargetEffect): string {
  if (absent !== undefined) return `{ field: ${absent}, exists: true }`;
  return `{ field: ${field}, not_equals: <the account it posts as> }`;
}
