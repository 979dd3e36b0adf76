/** Ignores events that the route's filters do not match (§2.2). */
import type { FilterSubject } from '../../table/link-filter.ts';
import type { Intake, Stage } from '../intake.ts';
import type { Reply } from '../reply.ts';
import { ignore } from './ignore.ts';

export const applyFilters: Stage = (intake) => {
  const { lists } = intake.route;
  if (lists.length === 0) return decide(intake);
  const changes = lists.map((list) => list.refresh()).filter((change) => change !== null);
  return changes.length === 0 ? decide(intake) : Promise.all(changes).then(() => decide(intake));
};

function decide(intake: Intake): Reply | null {
  const { filter } = intake.route;
  if (filter === null) return null;
  return filter.matches(subjectOf(intake)) ? null : ignore(intake, 'filter');
}

/** The parts of an event that filters read. */
export function subjectOf({ data, event, headers }: Intake): FilterSubject {
  return { payload: data, event, headers };
}
