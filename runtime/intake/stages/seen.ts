/**
 * Answers an event that is known as done. Before a script runs that has to be certain, because scripts have side effects
 * (decisions §4); without one, what is missed here is found when the event is stored.
 */
import type { Stage } from '../intake.ts';
import { duplicate } from '../reply.ts';

export const answerSeen: Stage = ({ claim, route, event, deliveryId }, { dispatcher }) => {
  if (claim === null || claim.generated || !dispatcher.isDone(claim, route.script !== null)) return null;
  return duplicate({ route: route.plan.name, event, delivery_id: deliveryId });
};
