/** Answers an event that is known as done before its script runs: scripts have side effects (decisions §4). */
import type { Stage } from '../intake.ts';
import { duplicate } from '../reply.ts';

export const answerSeen: Stage = ({ claim, route, event, deliveryId }, { dispatcher }) => {
  if (claim === null || claim.generated || !dispatcher.isDone(claim)) return null;
  return duplicate({ route: route.plan.name, event, delivery_id: deliveryId });
};
