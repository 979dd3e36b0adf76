/**
 * What is in the journal and not in the tables yet, for the lane; and when the writer is told to bring it there: a little
 * later, when most of the dispatches have ended, or ahead of a change that may build on it.
 */
import type { Place } from '../journal/journal.ts';
import type { Ref } from '../mutations.ts';

/** How long, in ms, anything stays in the journal alone, and how often that is looked at. */
const AGE_MS = 50;
const LOOK_MS = 20;
/** After the writer has died, in ms. */
const RETRY_MS = 1000;

/** What a record says. */
export interface Contents {
  readonly accepted: readonly Ref[];
  readonly ended: ReadonlySet<Ref>;
  /** Expiry (unix ms) of the ids that it claims, by key. */
  readonly claims: ReadonlyMap<string, number>;
}

interface Written extends Contents {
  readonly place: Place;
  /** Monotonic ms. */
  readonly at: number;
}

interface Dispatch {
  /** Of the record that says the latest of it. */
  readonly number: number;
  readonly ended: boolean;
}

/** Tells the writer to follow the journal up to a place. `safe`: and to say so once all of that is on the disk. */
export type Follow = (place: Place, safe: boolean) => void;

export class JournalBacklog {
  private readonly follow: Follow;
  /** Oldest first. */
  private readonly written: Written[] = [];
  private readonly dispatches = new Map<Ref, Dispatch>();
  private readonly claims = new Map<string, number>();
  private last: Place | null = null;
  /** Number of the last record that the writer was told of. */
  private told = 0;
  /** Up to this record it was told so ahead of another change, which may change what they brought. */
  private overtaken = 0;
  private timer: NodeJS.Timeout | null = null;
  private isClosed = false;

  constructor(follow: Follow) {
    this.follow = follow;
  }

  /** Dispatches. */
  get size(): number {
    return this.dispatches.size;
  }

  /** Number of the last record that was ever written; 0: none. */
  get lastNumber(): number {
    return this.last?.number ?? 0;
  }

  /** Expiry of a claim, unix ms; undefined: not in the journal alone. */
  expiryOf(key: string): number | undefined {
    return this.claims.get(key);
  }

  get claimKeys(): Iterable<string> {
    return this.claims.keys();
  }

  /** Whether a dispatch is here with its end. Null: not here, or another change may have come to it since. */
  hasEnded(ref: Ref): boolean | null {
    const dispatch = this.dispatches.get(ref);
    return dispatch === undefined || dispatch.number <= this.overtaken ? null : dispatch.ended;
  }

  note(place: Place, { accepted, ended, claims }: Contents): void {
    const { number } = place;
    for (const [key, expiry] of claims) this.claims.set(key, expiry);
    for (const ref of accepted) this.dispatches.set(ref, { number, ended: false });
    for (const ref of ended) this.dispatches.set(ref, { number, ended: true });
    this.written.push({ place, accepted, ended, claims, at: performance.now() });
    this.last = place;
    this.lookIn(LOOK_MS);
  }

  /** Has the writer follow all there is. */
  tellAll(safe: boolean): void {
    if (this.last !== null && (safe || this.last.number > this.told)) this.tell(this.last, safe);
  }

  /** The same ahead of whatever it is told next. */
  overtake(): void {
    this.tellAll(false);
    this.overtaken = this.lastNumber;
  }

  followed(number: number): void {
    let count = 0;
    for (const { place, accepted, ended, claims } of this.written) {
      if (place.number > number) break;
      for (const ref of accepted) this.drop(ref, number);
      for (const ref of ended) this.drop(ref, number);
      // A later one may hold the id by now.
      for (const [key, expiry] of claims) if (this.claims.get(key) === expiry) this.claims.delete(key);
      count++;
    }
    this.written.splice(0, count);
  }

  /** The writer is gone: the next one has to be told everything again. */
  forgotten(): void {
    this.told = 0;
    if (this.written.length > 0) this.lookIn(RETRY_MS);
  }

  /** Nothing is told by itself any more. */
  close(): void {
    this.isClosed = true;
    if (this.timer !== null) clearTimeout(this.timer);
  }

  private drop(ref: Ref, number: number): void {
    if ((this.dispatches.get(ref)?.number ?? 0) <= number) this.dispatches.delete(ref);
  }

  private tell(place: Place, safe: boolean): void {
    this.told = place.number;
    this.follow(place, safe);
  }

  /** Unless a look is due already. */
  private lookIn(ms: number): void {
    if (!this.isClosed) this.timer ??= setTimeout(this.onLook, ms).unref();
  }

  /** Tells the writer what is old enough. */
  private readonly onLook = (): void => {
    this.timer = null;
    const young = performance.now() - AGE_MS;
    const old = this.written.findLast(({ at }) => at <= young);
    if (old !== undefined && old.place.number > this.told) this.tell(old.place, false);
    if (this.lastNumber > this.told) this.lookIn(LOOK_MS);
  };
}
