/** The writer's in-memory copy of small tables. It is current because only the writer changes them. */

import { isPause } from '../../../schemas/built/rows/Pause.ts';
import { decodeOr, isText } from '../decode.ts';
import type { Pause, Ref } from '../records.ts';
import { laneKey, laneParts, routeLane } from '../records.ts';
import type { TallyColumn } from '../tally.ts';
import { noCounts, TALLY_COLUMNS } from '../tally.ts';
import type { Connection, Value } from './driver.ts';
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

/*
 * The writer's counts, in memory and in the tally table: dispatches of each route by state, the route's limit of
 * concurrent runs, and open groups. Only the writer changes them, so it reads them once, and again after a rollback.
 */

/** The counts of one route, and the lane of its runs. */
interface RouteCounts {
  readonly profile: string;
  /** Null: scheduled runs. */
  readonly route: string | null;
  readonly lane: string;
  readonly counts: Record<TallyColumn, number>;
  max_concurrent: number | null;
  changed: boolean;
}

const COLUMNS = ['profile', 'route', 'max_concurrent', ...TALLY_COLUMNS];

class Counts {
  /** Number of open groups. */
  groups = 0;
  private readonly byLane = new Map<string, RouteCounts>();
  private readonly readAll: () => readonly (readonly Value[])[];
  private readonly countGroups: () => number;
  private readonly put: (...values: readonly Value[]) => number;

  constructor(db: Connection) {
    const rows = db.query(`SELECT ${COLUMNS.join(', ')} FROM tally`);
    const groups = db.query<[number]>('SELECT count(*) FROM coalesce_group');
    this.readAll = () => rows.all();
    this.countGroups = () => groups.get()?.[0] ?? 0;
    this.put = db.change(
      `INSERT OR REPLACE INTO tally (${COLUMNS.join(', ')}) VALUES (${COLUMNS.map(() => '?').join(', ')})`,
    );
    this.reload();
  }

  /** Number of pending dispatches outside groups. @param paused lanes of routes whose dispatches do not count */
  waiting(paused: readonly string[]): number {
    let pending = -this.groups;
    for (const { counts } of this.byLane.values()) pending += counts.pending;
    for (const lane of paused) pending -= this.ofLane(lane).counts.pending;
    return Math.max(0, pending);
  }

  /** The counts of the lane's route. */
  ofLane(lane: string): RouteCounts {
    const name = routeLane(lane);
    const known = this.byLane.get(name);
    if (known !== undefined) return known;
    const { profile, name: route } = laneParts(name);
    return this.add({ profile, route, lane: name, max_concurrent: null });
  }

  change(of: RouteCounts, column: TallyColumn, by: number): void {
    of.counts[column] += by;
    of.changed = true;
  }

  /** Writes changed counts; part of the transaction. */
  flush(): void {
    for (const row of this.byLane.values()) {
      if (!row.changed) continue;
      this.put(row.profile, row.route ?? '', row.max_concurrent, ...TALLY_COLUMNS.map((name) => row.counts[name]));
      row.changed = false;
    }
  }

  /** Reads all counts; call it after a rollback. */
  reload(): void {
    this.byLane.clear();
    for (const [profile, name, max_concurrent, ...counts] of this.readAll() as [
      string,
      string,
      number,
      ...number[],
    ][]) {
      const route = name === '' ? null : name;
      const row = this.add({ profile, route, lane: laneKey(profile, route), max_concurrent });
      for (const [index, column] of TALLY_COLUMNS.entries()) row.counts[column] = counts[index] ?? 0;
    }
    this.groups = this.countGroups();
  }

  private add(of: Pick<RouteCounts, 'profile' | 'route' | 'lane' | 'max_concurrent'>): RouteCounts {
    const row = { ...of, counts: noCounts(), changed: false };
    this.byLane.set(row.lane, row);
    return row;
  }
}

/** The paused routes, in memory: the writer needs them for each `take_work`, and only it changes the rows. */
class Pauses {
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

  /** True if the route of the lane is paused at `now`. */
  has(lane: string, now: number): boolean {
    if (this.byLane.size === 0) return false;
    const until = this.byLane.get(routeLane(lane));
    return until !== undefined && (until === null || until > now);
  }

  /** The lanes of the routes that are paused at `now`. */
  lanes(now: number): readonly string[] {
    return [...this.byLane.keys()].filter((lane) => this.has(lane, now));
  }

  /** Unix ms at which the next pause expires; null: none does. */
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
