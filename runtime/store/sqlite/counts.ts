/**
 * The writer's counts, in memory and in the tally table: dispatches of each route by state, the route's limit of runs at
 * once, and open groups. Only the writer changes them, so it reads them once, and again after a rollback.
 */
import { laneKey, laneParts, routeLane } from '../identity.ts';
import type { TallyColumn } from '../tally.ts';
import { noCounts, TALLY_COLUMNS } from '../tally.ts';
import type { Connection, Value } from './driver.ts';

/** The counts of one route, and the lane of its runs. */
export interface RouteCounts {
  readonly profile: string;
  /** Null: scheduled runs. */
  readonly route: string | null;
  readonly lane: string;
  readonly counts: Record<TallyColumn, number>;
  max_concurrent: number | null;
  changed: boolean;
}

const COLUMNS = ['profile', 'route', 'max_concurrent', ...TALLY_COLUMNS];

export class Counts {
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

  /** Number of pending dispatches that are in no group. @param paused lanes of routes whose dispatches do not count */
  waiting(paused: readonly string[]): number {
    let pending = -this.groups;
    for (const { counts } of this.byLane.values()) pending += counts.pending;
    for (const lane of paused) pending -= this.ofLane(lane).counts.pending;
    return Math.max(0, pending);
  }

  /** Those of the lane's route. */
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
