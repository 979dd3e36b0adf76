/** The queries of ../store.ts as SQL, over a connection that only reads. */
import type Database from 'libsql';
import type { Dispatch } from '../../../schemas/generated/types.ts';
import { claimKey } from '../claim-key.ts';
import type { Ref, Step } from '../mutations.ts';
import type { DispatchState, OpenState } from '../states.ts';
import type { LastError, OpenDispatch, StoredDispatch, StoreReader, Tally } from '../store.ts';
import type { TallyColumn } from '../tally.ts';
import { auditTally, TALLY_COLUMNS } from '../tally.ts';
import { createIsHeld } from './claims.ts';
import { createJobReader } from './job-reader.ts';
import { parseGroupKey, stepIds } from './keys.ts';
import { createList } from './list.ts';
import type { SummaryRow } from './summary.ts';
import { readSummary, SUMMARY_COLUMNS } from './summary.ts';

export function createReader(db: Database.Database): StoreReader {
  const isHeld = createIsHeld(db);
  const load = createLoad(db);
  const refOf = db.prepare('SELECT ref FROM dispatch WHERE id = ?').raw();
  const groups = db
    .prepare(
      'SELECT g.key, g.ref, g.first_at, g.due_at, g.window_ms, g.max_wait_ms, g.superseded, d.max_concurrent ' +
        'FROM coalesce_group g JOIN dispatch d USING (ref) ORDER BY g.ref',
    )
    .raw();
  const oldest = db.prepare(
    'SELECT d.accepted_at FROM work w JOIN dispatch d USING (ref) WHERE w.finished_at IS NULL ORDER BY w.ref LIMIT 1',
  );
  const lastError = db.prepare("SELECT value FROM meta WHERE key = 'last_error'").raw();
  const tallies = createTallies(db);
  return {
    isClaimed: (key, now) => isHeld(claimKey(key), now),
    load,
    find(id) {
      const row = refOf.get([id]) as readonly [Ref] | undefined;
      return row === undefined ? null : load(row[0]);
    },
    ...createOpen(db),
    jobs: createJobReader(db),
    groups: () =>
      (groups.all([]) as GroupRow[]).map(
        ([key, ref, first_at, due_at, window_ms, max_wait_ms, superseded, max_concurrent]) => ({
          ...parseGroupKey(key),
          ...{ ref, first_at, due_at, window_ms, max_wait_ms, superseded, max_concurrent },
        }),
      ),
    list: createList(db),
    tallies,
    oldestOpen: () => (oldest.raw().get([]) as readonly [number] | undefined)?.[0] ?? null,
    lastError() {
      const row = lastError.get([]) as readonly [string] | undefined;
      return row === undefined ? null : (JSON.parse(row[0]) as LastError);
    },
    audit: createAudit(db, tallies),
  };
}

type GroupRow = [string, Ref, number, number, number, number, number, number | null];

function createLoad(db: Database.Database): (ref: Ref) => StoredDispatch | null {
  const one = db
    .prepare(
      `SELECT ${SUMMARY_COLUMNS}, d.max_concurrent, d.body, a.text FROM dispatch d JOIN work w USING (ref) ` +
        'LEFT JOIN answer a USING (ref) WHERE d.ref = ?',
    )
    .raw();
  const steps = db.prepare('SELECT data FROM step WHERE id BETWEEN ? AND ? ORDER BY id').raw();
  return (ref) => {
    const row = one.get([ref]) as
      | readonly [...SummaryRow, max_concurrent: number | null, body: string, answer: string | null]
      | undefined;
    if (row === undefined) return null;
    const [, , , , , , , , , , , , , max_concurrent, body, answer] = row;
    return {
      ...readSummary(row.slice(0, 13) as unknown as SummaryRow),
      dispatch: JSON.parse(body) as Dispatch,
      max_concurrent,
      answer: answer === null ? null : (JSON.parse(answer) as string),
      steps: (steps.all([...stepIds(ref)]) as [string][]).map(([data]) => JSON.parse(data) as Step),
    };
  };
}

const OPEN_COLUMNS = 'd.ref, d.id, d.profile, d.route, d.mode, w.state, d.max_concurrent, w.ready_at';
type OpenRow = [Ref, string, string, string | null, Dispatch['mode'], OpenState, number | null, number];

function createOpen(db: Database.Database): Pick<StoreReader, 'open' | 'openOne' | 'last' | 'inbox'> {
  const open = db
    .prepare(
      `SELECT ${OPEN_COLUMNS} FROM work w JOIN dispatch d USING (ref) ` +
        'WHERE w.finished_at IS NULL AND w.ref > ? AND w.ready_at IS NOT NULL ORDER BY w.ref LIMIT ?',
    )
    .raw();
  const one = db
    .prepare(
      `SELECT ${OPEN_COLUMNS} FROM work w JOIN dispatch d USING (ref) ` +
        'WHERE w.ref = ? AND w.finished_at IS NULL AND w.ready_at IS NOT NULL',
    )
    .raw();
  const last = db.prepare('SELECT coalesce(max(ref), 0) FROM dispatch').raw();
  const inbox = db.prepare('SELECT ref FROM inbox ORDER BY ref LIMIT ?').raw();
  const read = ([ref, id, profile, route, mode, state, max_concurrent, ready_at]: OpenRow): OpenDispatch => ({
    ...{ ref, id, profile, route, mode, state, max_concurrent, ready_at },
  });
  return {
    open: (after, limit) => (open.all([after, limit]) as OpenRow[]).map(read),
    openOne(ref) {
      const row = one.get([ref]) as OpenRow | undefined;
      return row === undefined ? null : read(row);
    },
    last: () => (last.get([]) as [number])[0],
    inbox: (limit) => (inbox.all([limit]) as [Ref][]).map(([ref]) => ref),
  };
}

function createTallies(db: Database.Database): () => readonly Tally[] {
  const all = db.prepare(`SELECT profile, route, ${TALLY_COLUMNS.join(', ')} FROM tally ORDER BY profile, route`).raw();
  return () =>
    (all.all([]) as [string, string, ...number[]][]).map(([profile, route, ...counts]) => {
      const named = TALLY_COLUMNS.map((column, index) => [column, counts[index] ?? 0] as const);
      const columns = Object.fromEntries(named) as Record<TallyColumn, number>;
      return { profile, route: route === '' ? null : route, ...columns };
    });
}

function createAudit(db: Database.Database, tallies: () => readonly Tally[]): () => readonly string[] {
  const count = db
    .prepare(
      "SELECT d.profile, coalesce(d.route, ''), w.state, count(*) FROM dispatch d JOIN work w USING (ref) GROUP BY 1, 2, 3",
    )
    .raw();
  return () => {
    // One snapshot for both sides of the sum: a server may be writing.
    db.exec('BEGIN');
    try {
      const stored = new Map<string, Partial<Record<DispatchState, number>>>();
      for (const [profile, route, state, found] of count.all([]) as [string, string, DispatchState, number][]) {
        const name = `${profile}\n${route}`;
        stored.set(name, { ...stored.get(name), [state]: found });
      }
      return tallies().flatMap((tally) =>
        auditTally(tally, stored.get(`${tally.profile}\n${tally.route ?? ''}`) ?? {}),
      );
    } finally {
      db.exec('COMMIT');
    }
  };
}
