/** Lets through the payloads that the route's filters match (§2.2). */
import type { Intake, Stage } from '../intake.ts';
import type { Reply } from '../reply.ts';
import { ignore } from './ignore.ts';

export const applyFilters: Stage = (intake) => {
  const { lists } = intake.route;
  if (lists.length === 0) return filter(intake);
  const changes = lists.map((list) => list.refresh()).filter((change) => change !== null);
  return changes.length === 0 ? filter(intake) : Promise.all(changes).then(() => filter(intake));
};

function filter(intake: Intake): Reply | null {
  const { matches } = intake.route;
  if (matches === null) return null;
  const subject = { payload: intake.data, event: intake.event, headers: intake.headers };
  return matches(subject) ? null : ignore(intake, 'filter');
}
