/** Finds the texts by outsiders in the prompt of a route, and which of the run's toolsets act. */

import { readPlaceholders } from '../config/template-grammar.ts';
import type { FieldReview } from '../shapes/field-review.ts';
import { isUntrusted } from '../shapes/leaf-class.ts';
import { findJobs } from '../views/find-job.ts';
import type { Payloads, RouteView } from '../views/route-scope.ts';
import { isByTrustedAuthor } from './author-filter.ts';

/** A part of a prompt that is untrusted. */
export interface UntrustedPart {
  /** As it is written; null: the prompt is not, and the default shows the whole payload. */
  readonly placeholder: string | null;
  /** UTF-16 offset in the prompt. */
  readonly offset: number;
  /** The free text that it is or holds; null: nothing is known of it. */
  readonly path: string | null;
  /** What was decided about that text; null: nothing. */
  readonly review: FieldReview | null;
}

const DUMP = '{__raw__}';

/** Empty for a route that is off or has no agent, and where nothing is known of payloads, as in a running gateway. */
export function untrustedParts(route: RouteView): readonly UntrustedPart[] {
  const { payloads } = route.scope;
  if (payloads === null || route.mode === 'direct' || route.config.enabled === false) return [];
  const { prompt } = route.config;
  if (prompt === undefined) return [{ placeholder: null, offset: 0, path: null, review: null }];
  const dump = prompt.indexOf(DUMP);
  const whole = dump < 0 ? [] : [{ placeholder: DUMP, offset: dump, path: null, review: null }];
  const fields = readPlaceholders(prompt).flatMap(({ path, offset, length }) => {
    const part = untrustedPart(route, payloads, path);
    return part === null ? [] : [{ ...part, placeholder: prompt.slice(offset, offset + length), offset }];
  });
  return [...whole, ...fields];
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
  // A path that no event has is reported as such, and stays in the prompt as it is written.
  if (set?.find(path).every(({ kind }) => kind === 'absent')) return null;
  const review = found.text?.review ?? null;
  // An object holds texts of others beside that of its author.
  const isWhole = found.text?.path.length === path.length;
  if (set !== null && isWhole && isByTrustedAuthor(route.config.filters, set, path)) return null;
  return { path: found.text?.path.join('.') ?? null, review };
}

/** The toolsets of the run that act: those of the route, or of the job that it feeds. Barred ones are not given. */
export function actingToolsets(route: RouteView): readonly string[] {
  const { effects } = route.scope.payloads ?? {};
  if (effects === undefined) return [];
  const { toolsets: known, jobs } = route.scope.table;
  if (route.mode === 'cron') {
    const [job] = findJobs(route, route.config.cron_job ?? '');
    const plan = job === undefined ? undefined : jobs[job.id];
    return (plan?.toolsets ?? []).filter((name) => effects.acts(name));
  }
  const names = route.config.toolsets ?? route.profilePlan?.toolsets ?? [];
  return [...new Set(names)].filter((name) => known[name] !== false && effects.acts(name));
}
