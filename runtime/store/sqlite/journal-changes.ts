/** Which changes the journal can take, and which ones store a dispatch. */
import type { Accept, Advance, Mutation } from '../mutations.ts';
import { isFailure } from '../mutations.ts';
import { canAdvance, isFinal } from '../states.ts';

/** Kinds of changes that may store a dispatch. */
export const STORING: ReadonlySet<Mutation['kind']> = new Set(['accept', 'coalesce', 'tick_job', 'fire_job'] as const);

/** An event to be run that claims its own delivery id, or none. */
export function isPlain({ claiming, state, answer, inbox, claim, dispatch }: Accept): boolean {
  if (claiming !== 'now' || state !== 'pending' || answer !== undefined || inbox) return false;
  const { profile, route, delivery_id } = dispatch;
  return claim === null || (claim.delivery_id === delivery_id && claim.profile === profile && claim.route === route);
}

/** An end that is no failure, of a dispatch that nothing has come to since it was accepted. */
export const isGoodEnd = (m: Advance): boolean =>
  isFinal(m.to) && !isFailure(m) && m.claim === undefined && canAdvance('pending', m);

/** Of the text that a change brings, in UTF-16 units. */
export const lengthOf = (mutation: Mutation): number =>
  mutation.kind === 'accept'
    ? mutation.dispatch.prompt.length
    : mutation.kind === 'advance'
      ? (mutation.answer?.length ?? 0)
      : 0;
