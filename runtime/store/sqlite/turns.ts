/**
 * Fair turns among lanes of rows that fall due. The lane that was served least recently comes first, and busy lanes
 * share the rows that are taken together, so that a burst in one lane does not delay the others.
 *
 * For each lane with rows, two lower bounds are cached, so that lanes without due rows cost no query: `next`, the
 * earliest due time, and `later`, the earliest due time after the last check. They may be too early, which costs a
 * query, but are never too late.
 */
import type { Connection, RowQuery, Value } from './driver.ts';

/** The queries of a kind of work. They use partial indexes, so that their cost does not grow with ended work. */
interface LaneSql {
  /** Due rows of a lane, in order. */
  readonly due: string;
  /** The first lane by name after this one. */
  readonly laneAfter: string;
  /** Earliest due time in a lane, and the earliest after an instant. */
  readonly next: string;
  readonly later: string;
}

const laneSql = (columns: string, waiting: string, order: string): LaneSql => ({
  due: `SELECT ${columns} ${waiting} AND lane = ? AND due_at <= ? ORDER BY ${order} LIMIT ?`,
  laneAfter: `SELECT min(lane) ${waiting} AND lane > ?`,
  next: `SELECT min(due_at) ${waiting} AND lane = ?`,
  later: `SELECT min(due_at) ${waiting} AND lane = ? AND due_at > ?`,
});

export const RUNS = laneSql('ref, failed', "FROM work WHERE state = 'pending' AND blocked_by IS NULL", 'due_at, ref');
export const ATTEMPTS = laneSql(
  'ref, n, blocked_by, due_at, set_at',
  'FROM delivery WHERE holder IS NULL',
  'due_at, ref, n',
);

interface Lane {
  next: number;
  later: number;
  /** Sequence number of the row with which it was last served. */
  served: number;
}

const UNKNOWN = Number.NEGATIVE_INFINITY;
const NEVER = Number.POSITIVE_INFINITY;

export class Turns {
  private readonly lanes = new Map<string, Lane>();
  private readonly laneAfter: RowQuery<[string | null]>;
  private readonly next: RowQuery<[number | null]>;
  private readonly later: RowQuery<[number | null]>;
  private sequence = 0;

  constructor(db: Connection, sql: LaneSql) {
    this.laneAfter = db.query(sql.laneAfter);
    this.next = db.query(sql.next);
    this.later = db.query(sql.later);
    this.reload();
  }

  /** Adds a row of the lane, due at `dueAt`. */
  add(lane: string, dueAt: number, now: number): void {
    const known = this.lanes.get(lane) ?? { next: NEVER, later: NEVER, served: 0 };
    this.lanes.set(lane, known);
    known.next = Math.min(known.next, dueAt);
    if (dueAt > now) known.later = Math.min(known.later, dueAt);
  }

  /** A row of the lane no longer waits, but was not taken: the bounds are unknown. */
  forget(lane: string): void {
    const known = this.lanes.get(lane);
    if (known !== undefined) Object.assign(known, { next: UNKNOWN, later: UNKNOWN });
  }

  /**
   * Takes up to `limit` due rows, lanes in turn.
   * @param room how many rows may be taken from a lane
   * @param take takes up to `count` due rows of a lane
   */
  take<T>(
    { now, limit }: { readonly now: number; readonly limit: number },
    room: (lane: string) => number,
    take: (lane: string, count: number) => readonly T[],
  ): readonly T[] {
    const due = [...this.lanes].filter(([, { next }]) => next <= now).sort(([, a], [, b]) => a.served - b.served);
    const entries = due.map(([name, lane]) => ({ name, lane, rows: [] as T[] }));
    let left = limit;
    for (let open = entries; left > 0 && open.length > 0; ) {
      const share = Math.max(1, Math.floor(left / open.length));
      open = open.filter(({ name, lane, rows }) => {
        const count = Math.min(share, left, room(name));
        if (count <= 0) return false;
        const taken = take(name, count);
        rows.push(...taken);
        left -= taken.length;
        if (taken.length < count) this.refreshBounds(name, lane);
        return taken.length === count;
      });
    }
    return this.inTurns(entries);
  }

  /** Unix ms at which the next row falls due after `now`; null when there is none. */
  nextDue(now: number): number | null {
    let next = NEVER;
    for (const [name, lane] of this.lanes) {
      if (lane.next <= now && lane.later <= now) lane.later = first(this.later, name, now);
      next = Math.min(next, lane.next > now ? lane.next : lane.later);
    }
    return next === NEVER ? null : next;
  }

  /** Reads the lanes again, after due times have changed or a transaction was rolled back. */
  reload(): void {
    const before = new Map(this.lanes);
    this.lanes.clear();
    for (let name = ''; ; ) {
      const found = this.laneAfter.get(name)?.[0] ?? null;
      // A name that is not valid text may be read as an earlier one.
      if (found === null || found <= name) return;
      this.lanes.set(found, { next: UNKNOWN, later: UNKNOWN, served: before.get(found)?.served ?? 0 });
      name = found;
    }
  }

  /** Orders the rows as if they had been taken one at a time, lanes in turn. */
  private inTurns<T>(entries: readonly { readonly lane: Lane; readonly rows: readonly T[] }[]): readonly T[] {
    const ordered: T[] = [];
    const rounds = Math.max(0, ...entries.map(({ rows }) => rows.length));
    for (let round = 0; round < rounds; round++) {
      for (const { lane, rows } of entries) {
        if (round >= rows.length) continue;
        ordered.push(rows[round] as T);
        lane.served = ++this.sequence;
      }
    }
    return ordered;
  }

  /** Reads the bounds of a lane without due rows. */
  private refreshBounds(name: string, lane: Lane): void {
    lane.next = first(this.next, name);
    lane.later = lane.next;
  }
}

const first = (query: RowQuery<[number | null]>, ...values: readonly Value[]): number =>
  query.get(...values)?.[0] ?? NEVER;
