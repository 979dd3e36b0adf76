/** Which of a turn's changes go to the journal: events that are new beyond doubt, and good ends of what is there. */
import type { Accept, Advance, ClaimKey, Mutation } from '../mutations.ts';
import { isFailure } from '../mutations.ts';
import { canAdvance, isFinal } from '../states.ts';
import type { JournalBacklog } from './journal-backlog.ts';
import type { Pending } from './pending.ts';

/** Longer texts, in UTF-16 units, go to the tables at once: the event loop would wait until they are written. */
const MAX_CHARS = 256 * 1024;

export interface Shares {
  readonly journal: readonly Pending[];
  readonly tables: readonly Pending[];
}

export class JournalShare {
  private readonly backlog: JournalBacklog;
  private lastId: string;

  /** @param lastId highest id of a stored dispatch: one that sorts behind it is new */
  constructor(backlog: JournalBacklog, lastId: string) {
    this.backlog = backlog;
    this.lastId = lastId;
  }

  /** @param isAtWriter whether an id is in a change for the tables that is on its way */
  divide(fresh: readonly Pending[], isAtWriter: (key: ClaimKey) => boolean): Shares {
    const shares = { journal: [] as Pending[], tables: [] as Pending[] };
    let [chars, isBarred] = [0, false];
    for (const pending of fresh) {
      const { mutation } = pending;
      const length = lengthOf(mutation);
      const isForJournal = !isBarred && chars + length <= MAX_CHARS && this.canTake(mutation, isAtWriter);
      if (isForJournal) chars += length;
      // What follows any other change may build on it.
      else isBarred ||= !this.isSettledEnd(mutation);
      this.noteId(mutation);
      shares[isForJournal ? 'journal' : 'tables'].push(pending);
    }
    return shares;
  }

  /** A good end of a dispatch that is in the tables, or will be before any change that follows. */
  isSettledEnd(mutation: Mutation): boolean {
    return mutation.kind === 'advance' && isGoodEnd(mutation) && this.backlog.hasEnded(mutation.ref) === null;
  }

  private canTake(mutation: Mutation, isAtWriter: (key: ClaimKey) => boolean): boolean {
    if (mutation.kind === 'advance') return isGoodEnd(mutation) && this.backlog.hasEnded(mutation.ref) !== null;
    if (mutation.kind !== 'accept' || !isPlain(mutation)) return false;
    const { claim, dispatch } = mutation;
    return dispatch.id > this.lastId && (claim === null || !isAtWriter(claim));
  }

  private noteId(mutation: Mutation): void {
    if ('dispatch' in mutation && mutation.dispatch !== null && mutation.dispatch.id > this.lastId) {
      this.lastId = mutation.dispatch.id;
    }
  }
}

/** An event to be run that claims its own delivery id, or none. */
function isPlain({ claiming, state, answer, inbox, claim, dispatch }: Accept): boolean {
  if (claiming !== 'now' || state !== 'pending' || answer !== undefined || inbox) return false;
  const { profile, route, delivery_id } = dispatch;
  return claim === null || (claim.delivery_id === delivery_id && claim.profile === profile && claim.route === route);
}

/** An end that is no failure, of a dispatch that nothing has come to since it was accepted. */
const isGoodEnd = (m: Advance): boolean =>
  isFinal(m.to) && !isFailure(m) && m.claim === undefined && canAdvance('pending', m);

/** Of the text that a change brings, in UTF-16 units. */
const lengthOf = (mutation: Mutation): number =>
  mutation.kind === 'accept'
    ? mutation.dispatch.prompt.length
    : mutation.kind === 'advance'
      ? (mutation.answer?.length ?? 0)
      : 0;
