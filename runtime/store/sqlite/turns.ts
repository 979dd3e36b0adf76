/**
 * Whose turn it is among lanes of rows that fall due. A lane that was served longer ago comes first, and lanes that have
 * much waiting share what is taken at once, so that a burst in one does not hold up the others.
 *
 * Of each lane that has rows, two lower bounds are remembered, so that lanes without due rows cost no query: `next`, the
 * earliest due time, and `later`, the earliest after the last look. They may be too early, which costs a query, but are
 * never too late.
 */
import type { Connection, RowQuery, Value } from './driver.ts';
import type { LaneSql } from './work-queries.ts';

interface Lane {
  next: number;
  later: number;
  /** Number of the taking in which it was last served. */
  served: number;
}

const UNKNOWN = Number.NEGATIVE_INFINITY;
const NEVER = Number.POSITIVE_INFINITY;

export class Turns {
  private readonly lanes = new Map<string, Lane>();
  private readonly laneAfter: RowQuery<[string | null]>;
  private readonly next: RowQuery<[number | null]>;
  private readonly later: RowQuery<[number | null]>;
  private takings = 0;

  constructor(db: Connection, sql: LaneSql) {
    this.laneAfter = db.query(sql.laneAfter);
    this.next = db.query(sql.next);
    this.later = db.query(sql.later);
    this.reload();
  }

  /** A row of the lane falls due at `dueAt`. */
  add(lane: string, dueAt: number, now: number): void {
    const known = this.lanes.get(lane) ?? { next: NEVER, later: NEVER, served: 0 };
    this.lanes.set(lane, known);
    known.next = Math.min(known.next, dueAt);
    if (dueAt > now) known.later = Math.min(known.later, dueAt);
  }

  /** A row of the lane no longer waits, though it was not taken. */
  forget(lane: string): void {
    const known = this.lanes.get(lane);
    if (known !== undefined) Object.assign(known, { next: UNKNOWN, later: UNKNOWN });
  }

  /**
   * Takes up to `limit` rows that are due, in the order of the turns.
   * @param room how many may be taken from a lane
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
        if (taken.length < count) this.look(name, lane);
        return taken.length === count;
      });
    }
    return this.inTurns(entries);
  }

  /** Unix ms at which the next row falls due that is not due at `now`; null: there is none. */
  nextDue(now: number): number | null {
    let next = NEVER;
    for (const [name, lane] of this.lanes) {
      if (lane.next <= now && lane.later <= now) lane.later = first(this.later, name, now);
      next = Math.min(next, lane.next > now ? lane.next : lane.later);
    }
    return next === NEVER ? null : next;
  }

  /** Rows have got other due times, or a transaction was rolled back. */
  reload(): void {
    const before = new Map(this.lanes);
    this.lanes.clear();
    for (let name = ''; ; ) {
      const found = this.laneAfter.get(name)?.[0] ?? null;
      if (found === null) return;
      this.lanes.set(found, { next: UNKNOWN, later: UNKNOWN, served: before.get(found)?.served ?? 0 });
      name = found;
    }
  }

  /** One row of each lane after the other, as if they had been taken one by one. */
  private inTurns<T>(entries: readonly { readonly lane: Lane; readonly rows: readonly T[] }[]): readonly T[] {
    const ordered: T[] = [];
    const rounds = Math.max(0, ...entries.map(({ rows }) => rows.length));
    for (let round = 0; round < rounds; round++) {
      for (const { lane, rows } of entries) {
        if (round >= rows.length) continue;
        ordered.push(rows[round] as T);
        lane.served = ++this.takings;
      }
    }
    return ordered;
  }

  /** All that was due has been taken. */
  private look(name: string, lane: Lane): void {
    lane.next = first(this.next, name);
    lane.later = lane.next;
  }
}

const first = (query: RowQuery<[number | null]>, ...values: readonly Value[]): number =>
  query.get(...values)?.[0] ?? NEVER;
