/** Ignores events that are older than the route takes when they come (decisions §4). */
import type { Stage } from '../intake.ts';
import { subjectOf } from './filters.ts';
import { ignore } from './ignore.ts';

export const checkAge: Stage = (intake) => {
  const { maxAge } = intake.route;
  if (maxAge === null) return null;
  const age = maxAge.ageOf(subjectOf(intake), intake.cameAt);
  if (age === null || age <= maxAge.maxMs) return null;
  return ignore(intake, 'age', `${Math.round(age / 1000)} s old, at most ${maxAge.maxMs / 1000} s are taken`);
};
