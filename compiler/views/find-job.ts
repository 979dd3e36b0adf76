/** Finds the job that a route's `cron_job` refers to, by id or else by name, among the jobs of its profile. */
import type { JobRef } from './machine-facts.ts';
import type { RouteView } from './views.ts';

/** Jobs of the config and of the store. */
export function jobsOf(route: RouteView): readonly JobRef[] {
  const all: readonly JobRef[] = [...Object.values(route.scope.table.jobs), ...route.scope.facts.jobs];
  return all.filter(({ profile }) => profile === route.profile);
}

/** Ids are unique, but several jobs may have the same name. */
export function findJobs(route: RouteView, reference: string): readonly JobRef[] {
  const jobs = jobsOf(route);
  const byId = jobs.filter(({ id }) => id === reference);
  return byId.length > 0 ? byId : jobs.filter(({ name }) => name === reference);
}
