/** Lets through the payloads that the route's filters match (§2.2). */
import type { Stage } from '../intake.ts';
import { ignore } from './ignore.ts';

export const applyFilters: Stage = (intake) => {
  const { matches } = intake.route;
  if (matches === null) return null;
  const subject = { payload: intake.data, event: intake.event, headers: intake.headers };
  return matches(subject) ? null : ignore(intake, 'filter');
};
