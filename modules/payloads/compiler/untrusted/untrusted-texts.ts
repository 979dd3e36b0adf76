/** Finds text by outsiders in a route's prompt, and the acting toolsets of its runs. */

import { agentToolsets } from '../../../../base/agent-plan.ts';
import { NO_AGENT } from '../../../../base/no-agent.ts';
import { EVENTS, keepsAll } from '../../../../compiler/config/burst.ts';
import { readPlaceholders } from '../../../../compiler/config/template-grammar.ts';
import { findJobs } from '../../../../compiler/views/find-job.ts';
import type { RouteView } from '../../../../compiler/views/views.ts';
import type { Payloads } from '../payloads/payloads.ts';
import { payloadsOf } from '../payloads/payloads.ts';
import type { FieldReview } from '../shapes/field-review.ts';
import { isUntrusted } from '../shapes/leaf-class.ts';
import { isByTrustedAuthor } from './author-filter.ts';

/** An untrusted part of a prompt. */
export interface UntrustedPart {
  /** The placeholder as written; null for the default prompt, which contains the whole payload. */
  readonly placeholder: string | null;
  /** UTF-16 offset in the prompt. */
  readonly offset: number;
  /** Path of the free text that it is or contains; null if unknown. */
  readonly path: string | null;
  /** The review decision about that text, or null. */
  readonly review: FieldReview | null;
}

const DUMP = '{__raw__}';

/** Empty if the route is disabled or has no agent, or if payload shapes are unavailable, as in a running gateway. */
export function untrustedParts(route: RouteView): readonly UntrustedPart[] {
  const payloads = payloadsOf(route);
  if (payloads === null || route.config.enabled === false || !isRead(route)) return [];
  const { prompt } = route.config;
  if (prompt === undefined) return [{ placeholder: null, offset: 0, path: null, review: null }];
  const dump = prompt.indexOf(DUMP);
  const whole = dump < 0 ? [] : [{ placeholder: DUMP, offset: dump, path: null, review: null }];
  const fields = readPlaceholders(prompt).flatMap(({ path, offset, length }) => {
    const placeholder = prompt.slice(offset, offset + length);
    const isList = placeholder === EVENTS && keepsAll(route.config);
    const part = isList ? partInEach(route, payloads) : untrustedPart(route, payloads, path);
    return part === null ? [] : [{ ...part, placeholder, offset }];
  });
  return [...whole, ...fields];
}

/** The first untrusted part of an event in the list of a burst. */
function partInEach(route: RouteView, payloads: Payloads): Pick<UntrustedPart, 'path' | 'review'> | null {
  const { each = DUMP } = route.config.coalesce ?? {};
  if (each.includes(DUMP)) return { path: null, review: null };
  const parts = readPlaceholders(each).map(({ path }) => untrustedPart(route, payloads, path));
  return parts.find((part) => part !== null) ?? null;
}

/** Whether an agent reads what the route renders: the route's own, or that of its job. */
function isRead(route: RouteView): boolean {
  if (route.mode !== 'cron') return route.mode === 'agent';
  const [job] = findJobs(route, route.config.cron_job ?? '');
  return job === undefined || route.scope.table.jobs[job.id]?.agent !== NO_AGENT;
}

function untrustedPart(
  route: RouteView,
  payloads: Payloads,
  path: readonly string[],
): Pick<UntrustedPart, 'path' | 'review'> | null {
  if (path[0] === DUMP.slice(1, -1)) return null;
  const set = payloads.seenBy(route);
  const found = payloads.classOf(route, path);
  if (!isUntrusted(found.class)) return null;
  // A path that no event has is reported by another rule, and its placeholder is left unchanged in the prompt.
  if (set?.find(path).every(({ kind }) => kind === 'absent')) return null;
  const review = found.text?.review ?? null;
  // An object may contain texts by several authors.
  const isWhole = found.text?.path.length === path.length;
  if (set !== null && isWhole && isByTrustedAuthor(route.config.filters, set, path)) return null;
  return { path: found.text?.path.join('.') ?? null, review };
}

/** The acting toolsets of a run: those of the route, or of the job that it triggers, without forbidden ones. */
export function actingToolsets(route: RouteView): readonly string[] {
  const payloads = payloadsOf(route);
  if (payloads === null) return [];
  const { toolsets: known, jobs } = route.scope.table;
  if (route.mode === 'cron') {
    const [job] = findJobs(route, route.config.cron_job ?? '');
    const plan = job === undefined ? undefined : jobs[job.id];
    return (plan?.toolsets ?? []).filter((name) => payloads.acts(name));
  }
  const { config, profilePlan } = route;
  const names = agentToolsets(config.toolsets ?? profilePlan?.toolsets ?? [], profilePlan, config.agent ?? null);
  return [...new Set(names)].filter((name) => known[name] !== false && payloads.acts(name));
}
