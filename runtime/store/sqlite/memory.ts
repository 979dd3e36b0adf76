/** What the writer knows of the tables without asking: it is the only one that changes them. */
import type { Ref } from '../identity.ts';
import { Counts } from './counts.ts';
import type { Connection } from './driver.ts';
import { Pauses } from './pauses.ts';
import { ATTEMPTS, RUNS, Turns } from './turns.ts';

/** Range of step ids for one dispatch, larger than any needs. */
const STEPS = 2 ** 20;
/** The first and the last possible step id of a dispatch. */
export const stepIds = (ref: Ref): readonly [number, number] => [ref * STEPS, ref * STEPS + STEPS - 1];

export class Memory {
  readonly counts: Counts;
  readonly runs: Turns;
  readonly attempts: Turns;
  readonly pauses: Pauses;
  lastRef: Ref;
  private readonly highestRef: () => Ref;

  constructor(db: Connection) {
    this.counts = new Counts(db);
    this.runs = new Turns(db, RUNS);
    this.attempts = new Turns(db, ATTEMPTS);
    this.pauses = new Pauses(db);
    // A larger number would leave no room for the ids of steps: it is damage.
    const highest = db.query<[number]>(`SELECT coalesce(max(ref), 0) FROM dispatch WHERE ref < ${2 ** 33}`);
    this.highestRef = () => highest.get()?.[0] ?? 0;
    this.lastRef = this.highestRef();
  }

  /** Reads all of it again, after a rollback. */
  reload(): void {
    for (const part of [this.counts, this.runs, this.attempts, this.pauses]) part.reload();
    this.lastRef = this.highestRef();
  }
}
