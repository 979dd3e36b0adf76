/** The stages that end events which the route ignores or has seen already. */
import type { FilterSubject } from '../../table/link-filter.ts';
import type { Intake, Services, Stage } from '../intake.ts';
import type { Reply } from '../reply.ts';
import { ignore, refuse } from './reject.ts';

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

/** Ignores events that are older than the route takes when they come (decisions §4). */
export const checkAge: Stage = (intake) => {
  const { maxAge } = intake.route;
  if (maxAge === null) return null;
  const age = maxAge.ageOf(subjectOf(intake), intake.cameAt);
  if (age === null || age <= maxAge.maxMs) return null;
  return ignore(intake, 'age', `${Math.round(age / 1000)} s old, at most ${maxAge.maxMs / 1000} s are taken`);
};

/** The parts of an event that filters read. */
export function subjectOf({ data, event, headers }: Intake): FilterSubject {
  return { payload: data, event, headers };
}

/** Ignores events whose type the route does not accept (§2.1). */
export const matchEvent: Stage = (intake) =>
  intake.route.events.accepts(intake.event) ? null : ignore(intake, 'event');

/**
 * Refuses duplicates. Before a script runs this must be certain, because scripts have side effects (decisions §4); without
 * a script, duplicates that are missed here are found when the event is stored.
 */
export const answerSeen: Stage = (intake, services) => {
  const { claim, route } = intake;
  if (claim === null || claim.generated) return null;
  if (services.dispatcher.isKnownDone(claim)) return refuse(intake, { kind: 'duplicate' });
  return route.script === null ? null : lookUp(intake, services);
};

async function lookUp(intake: Intake, { dispatcher }: Services): Promise<Reply | null> {
  const refusal = intake.claim === null ? null : await dispatcher.refuseRepeat(intake.claim);
  return refusal === null ? null : refuse(intake, refusal);
}
