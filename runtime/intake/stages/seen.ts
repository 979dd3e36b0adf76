/**
 * Refuses duplicates. Before a script runs this must be certain, because scripts have side effects (decisions §4); without
 * a script, duplicates that are missed here are found when the event is stored.
 */
import type { Intake, Services, Stage } from '../intake.ts';
import type { Reply } from '../reply.ts';
import { refuse } from './refuse.ts';

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
