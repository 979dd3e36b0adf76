/**
 * The short way to the disk, for what makes up nearly all of the load: events to be run, and the good ends of their runs.
 * The changes of a turn, or at `full` of several, are one record of the journal, which is all that their acknowledgement
 * needs. The writer brings them into the tables a little later, when most of the dispatches have ended: each is then one
 * insert, and many share a page.
 *
 * Few changes at a time go to the tables at once, so that whoever reads finds them there; so does everything else, behind
 * what is in the journal by then. The tables are never wrong, only some tens of ms behind under load.
 */
import type { Logger } from '../../log.ts';
import { claimKey } from '../claim-key.ts';
import type { Journal, Place } from '../journal/journal.ts';
import type { Accept, Advance, ClaimKey, Mutation, Ref } from '../mutations.ts';
import { acceptText, endText } from './batch-text.ts';
import { Gathering } from './gathering.ts';
import type { Contents, Follow } from './journal-backlog.ts';
import { JournalBacklog } from './journal-backlog.ts';
import { JournalShare } from './journal-share.ts';
import { LogSync } from './log-sync.ts';
import type { ServerNumbers } from './numbering.ts';
import type { OnCommitted, Pending, Result } from './pending.ts';
import type { StoredClaims } from './stored-claims.ts';

/** Fewer changes, with the dispatches that are in the journal alone, go to the tables at once. */
const FROM = 8;
/** So many changes need not wait for the end of their turn, when no sync has to follow that others could share. */
const GROUP = 16;
/** With so many dispatches in the journal alone the writer is behind: what is new goes to the tables, and waits for it. */
const MAX_BEHIND = 4096;
/** Kinds of changes that may store a dispatch. */
const STORING: ReadonlySet<Mutation['kind']> = new Set(['accept', 'coalesce', 'tick_job', 'fire_job'] as const);

export interface JournalLaneParts {
  readonly journal: Journal;
  readonly durability: 'full' | 'normal';
  readonly follow: Follow;
  readonly numbers: ServerNumbers;
  /** @param pending keys of claims that are not in the database yet */
  readonly storedClaims: (pending: () => Iterable<string>) => StoredClaims;
  /** Highest id of a stored dispatch: one that sorts behind it is new. */
  readonly lastId: string;
  readonly committed: OnCommitted;
  readonly log: Logger;
  /** For tests: in place of `FROM`. */
  readonly from?: number | undefined;
  /** For tests that kill the process there. */
  readonly reached?: ((point: JournalPoint) => void) | undefined;
}

/** A record is in the journal, or on the disk. */
export type JournalPoint = 'written' | 'synced';

/** A change whose result is certain once its record is on the disk. */
interface Outcome {
  readonly pending: Pending;
  readonly result: Result;
}

/** What a record is going to say. */
interface Draft extends Contents {
  text: string;
  readonly accepted: Ref[];
  readonly ended: Set<Ref>;
  readonly claims: Map<string, number>;
  readonly outcomes: Outcome[];
}

export class JournalLane {
  private readonly parts: JournalLaneParts;
  private readonly from: number;
  private readonly sync: LogSync;
  private readonly stored: StoredClaims;
  private readonly backlog: JournalBacklog;
  private readonly share: JournalShare;
  private readonly gathering = new Gathering();
  private safe = 0;
  /** Keys of the claims that are not acknowledged yet. */
  private readonly claiming = new Set<string>();
  /** The disk did not take the journal: nobody can say what of it is there. */
  private isBroken = false;

  constructor(parts: JournalLaneParts) {
    this.parts = parts;
    this.from = parts.from ?? FROM;
    this.backlog = new JournalBacklog(parts.follow);
    this.share = new JournalShare(this.backlog, parts.lastId);
    this.stored = parts.storedClaims(() => this.backlog.claimKeys);
    this.sync = new LogSync((done) => parts.journal.sync(done));
  }

  /** Takes what it can of a turn's changes, and answers what is left for the writer. */
  take(fresh: readonly Pending[], isAtWriter: (key: ClaimKey) => boolean): readonly Pending[] {
    if (!this.isOpen) return fresh;
    const { journal, tables } = this.share.divide(fresh, isAtWriter);
    if (journal.length === 0 || !this.isWorthARecord(journal.length)) return fresh;
    return this.write(journal) ? tables : fresh;
  }

  /** Whether so many changes go to the journal in the midst of a turn. */
  isEnough(count: number): boolean {
    return count >= GROUP && this.parts.durability === 'normal';
  }

  /** Whether a turn's changes wait for those of the next one, to share a sync with them. */
  awaitsMore(fresh: readonly Pending[]): boolean {
    if (this.parts.durability === 'normal') return false;
    const goThere = this.isOpen && this.isWorthARecord(fresh.length);
    const events = goThere ? fresh.filter(({ mutation }) => mutation.kind === 'accept').length : 0;
    return this.gathering.goesOn(events, performance.now());
  }

  /** Whether an id is claimed by an acknowledged event that is in the journal alone. */
  isClaimed(claim: ClaimKey, now: number): boolean {
    const key = claimKey(claim);
    return (this.backlog.expiryOf(key) ?? 0) > now && !this.claiming.has(key);
  }

  /** True while the id of an event in the journal is not acknowledged. */
  isClaiming(key: ClaimKey): boolean {
    return this.claiming.has(claimKey(key));
  }

  /** The number of the dispatch that a change for the writer stores, should it store one. */
  numberFor({ kind }: Mutation): Ref | null {
    return STORING.has(kind) ? this.parts.numbers.next() : null;
  }

  /** Has the writer follow what changes that are left for it may build on. */
  makeWayFor(rest: readonly Pending[]): void {
    if (rest.some(({ mutation }) => !this.share.isSettledEnd(mutation))) this.backlog.overtake();
    if (rest.length > 0) this.parts.numbers.look();
  }

  /** The writer has answered a change. Whatever became of it: an id that looks as if it were stored costs a query. */
  noteClaim(mutation: Mutation): void {
    if ('claim' in mutation && mutation.claim) this.stored.note(claimKey(mutation.claim));
  }

  /** Has the writer follow all there is, ahead of whatever it is told next. */
  overtake(): void {
    this.backlog.overtake();
  }

  followed(number: number): void {
    this.backlog.followed(number);
  }

  onSafe(number: number): void {
    this.safe = Math.max(this.safe, number);
  }

  /** The writer is gone: the next one has to be told everything again. */
  forgotten(): void {
    this.backlog.forgotten();
  }

  /** Waits for what is on its way to the disk, and has the writer follow the rest. */
  async finish(): Promise<void> {
    await new Promise<void>((resolve) => this.sync.whenIdle(resolve));
    this.backlog.tellAll(true);
    this.backlog.close();
  }

  /** Once the writer has ended. What it could not bring into the tables stays for the next start. */
  close(): void {
    this.stored.close();
    this.parts.journal.close(this.backlog.lastNumber <= this.safe);
  }

  private get isOpen(): boolean {
    return !this.isBroken && this.backlog.size <= MAX_BEHIND;
  }

  private isWorthARecord(count: number): boolean {
    return count + this.backlog.size >= this.from;
  }

  /** False: the medium refused, and nothing was written. */
  private write(mine: readonly Pending[]): boolean {
    let draft: Draft;
    let place: Place | null = null;
    try {
      draft = this.draft(mine);
      if (draft.text !== '') place = this.append(draft.text);
    } catch (error) {
      if (!(error instanceof Error && 'code' in error)) throw error;
      // The tables are on the same disk: what it says of them tells whoever waits why.
      return false;
    }
    if (place !== null) this.backlog.note(place, draft);
    this.answer(draft);
    return true;
  }

  private draft(mine: readonly Pending[]): Draft {
    const keys = mine.map(({ mutation }) =>
      mutation.kind === 'accept' && mutation.claim !== null ? claimKey(mutation.claim) : null,
    );
    const held = this.stored.claim(keys.filter((key) => key !== null));
    const draft: Draft = { text: '', accepted: [], ended: new Set(), claims: new Map(), outcomes: [] };
    for (const [index, pending] of mine.entries()) {
      const { mutation } = pending;
      const result =
        mutation.kind === 'accept'
          ? this.accept(mutation, keys[index] ?? null, held, draft)
          : this.end(mutation as Advance, draft);
      draft.outcomes.push({ pending, result });
    }
    return draft;
  }

  private accept(change: Accept, key: string | null, held: ReadonlyMap<string, number>, draft: Draft): Result {
    const { claim, now } = change;
    if (key !== null && claim !== null) {
      const expiry = draft.claims.get(key) ?? this.backlog.expiryOf(key) ?? held.get(key) ?? 0;
      if (expiry > now) return { kind: 'duplicate' };
      draft.claims.set(key, claim.expires_at);
    }
    const ref = this.parts.numbers.next();
    draft.text += acceptText(ref, change);
    draft.accepted.push(ref);
    return { kind: 'stored', ref };
  }

  private end(change: Advance, draft: Draft): Result {
    if (this.backlog.hasEnded(change.ref) !== false || draft.ended.has(change.ref)) return false;
    draft.ended.add(change.ref);
    draft.text += endText(change);
    return true;
  }

  private append(text: string): Place {
    const { journal, reached } = this.parts;
    if (journal.isLong && journal.canTurn(this.safe)) this.turn();
    const place = journal.append(text);
    reached?.('written');
    return place;
  }

  private turn(): void {
    this.backlog.tellAll(true);
    try {
      this.parts.journal.turn();
    } catch {
      // No room for another segment, but perhaps for more of this one.
    }
  }

  /** An end needs no sync of its own: lost with the power, the run is repeated. */
  private answer({ outcomes, claims }: Draft): void {
    const { durability, committed } = this.parts;
    const waits: Outcome[] = [];
    for (const outcome of outcomes) {
      const { pending, result } = outcome;
      if (durability === 'full' && pending.mutation.kind === 'accept') waits.push(outcome);
      else pending.stored(result, committed);
    }
    if (waits.length === 0) return;
    for (const key of claims.keys()) this.claiming.add(key);
    this.sync.after((error) => {
      this.parts.reached?.('synced');
      for (const key of claims.keys()) this.claiming.delete(key);
      if (error !== null) this.breakOff(error);
      for (const { pending, result } of waits) {
        if (error === null) pending.stored(result, committed);
        else pending.refuse(`the disk did not take the journal: ${error.message}`);
      }
    });
  }

  /** From now on everything goes to the tables. */
  private breakOff(error: Error): void {
    if (!this.isBroken)
      this.parts.log.error({ reason: error.message }, 'the disk did not take the journal: going on without it');
    this.isBroken = true;
  }
}
