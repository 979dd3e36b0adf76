/** Which routes are paused, in memory: the writer asks with each `take_work`, and only it changes the rows. */
import { decodeOr, isText } from '../decode.ts';
import { routeLane } from '../identity.ts';
import type { Pause } from '../pauses.ts';
import { isPause } from '../pauses.ts';
import type { Connection } from './driver.ts';

export class Pauses {
  private readonly byLane = new Map<string, number | null>();
  private readonly readAll: () => readonly (readonly [key: string, body: string])[];

  constructor(db: Connection) {
    const rows = db.query<[string, string]>("SELECT key, body FROM guard_state WHERE kind = 'pause'");
    this.readAll = () => rows.all();
    this.reload();
  }

  /** @param body JSON; null: the pause has ended */
  put(lane: string, body: string | null): void {
    const pause = decodeOr<Pause | null>(body ?? 'null', isPause, null);
    if (pause === null) this.byLane.delete(lane);
    else this.byLane.set(lane, pause.until);
  }

  /** Whether the route of the lane is paused at `now`. */
  has(lane: string, now: number): boolean {
    if (this.byLane.size === 0) return false;
    const until = this.byLane.get(routeLane(lane));
    return until !== undefined && (until === null || until > now);
  }

  /** The lanes of the routes that are paused at `now`. */
  lanes(now: number): readonly string[] {
    return [...this.byLane.keys()].filter((lane) => this.has(lane, now));
  }

  /** Unix ms at which the next pause ends by itself; null: none does. */
  nextEnd(now: number): number | null {
    const ends = [...this.byLane.values()].filter((until) => until !== null && until > now) as readonly number[];
    return ends.length === 0 ? null : Math.min(...ends);
  }

  /** Reads all of them again, after a rollback. */
  reload(): void {
    this.byLane.clear();
    for (const [key, body] of this.readAll()) this.put(decodeOr(key, isText, ''), body);
  }
}
