/** Which agent reads the prompt of a route. */
import { findJobs } from './find-job.ts';
import type { RouteView } from './views.ts';

/** Its own, or that of its job; null: the default one. Jobs of the store have the default one, as far as rules know. */
export function runningAgent(route: RouteView): string | null {
  if (route.mode !== 'cron') return route.config.agent ?? null;
  const [job] = findJobs(route, route.config.cron_job ?? '');
  return (job === undefined ? undefined : route.scope.table.jobs[job.id]?.agent) ?? null;
}
