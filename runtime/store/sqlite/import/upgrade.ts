/** Migrates the tables of format 5 to this version's format. */
import type { Dispatch } from '../../../../schemas/generated/types.ts';
import { laneKey } from '../../identity.ts';
import type { Ref, Step } from '../../mutations.ts';
import type { Connection } from '../driver.ts';
import { stepIds } from '../rows.ts';
import { FORMAT, WORK_TABLES } from '../schema.ts';

/** Holder of the work that an older version had under way: a process that has ended. */
const GONE = 'an older version';

/** Migrates to format 6, in which all waiting work has a lane and a due time. Call it within a transaction. */
export function upgrade(db: Connection): void {
  db.exec(`
    DROP TABLE inbox;
    ALTER TABLE tally ADD COLUMN max_concurrent INTEGER;
    ALTER TABLE work RENAME COLUMN ready_at TO due_at;
    ALTER TABLE work ADD COLUMN lane TEXT;
    ALTER TABLE work ADD COLUMN set_at INTEGER;
    ALTER TABLE work ADD COLUMN holder TEXT;
    ALTER TABLE work ADD COLUMN failed INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE work ADD COLUMN steps INTEGER NOT NULL DEFAULT 0;
    ${WORK_TABLES}
    UPDATE work SET due_at = (SELECT due_at FROM coalesce_group g WHERE g.ref = work.ref)
      WHERE ref IN (SELECT ref FROM coalesce_group);
  `);
  const open = db.query<[Ref, string, string, string | null]>(
    'SELECT w.ref, w.state, d.profile, d.route FROM work w JOIN dispatch d USING (ref) WHERE w.finished_at IS NULL',
  );
  const stepsOf = db.query<[string]>('SELECT data FROM step WHERE id BETWEEN ? AND ? ORDER BY id');
  const set = db.change(
    'UPDATE work SET lane = ?, due_at = coalesce(due_at, 0), set_at = 0, holder = ?, failed = ?, steps = ? WHERE ref = ?',
  );
  const deliveries = createDeliveries(db);
  for (const [ref, state, profile, route] of open.all()) {
    const steps = stepsOf.all(...stepIds(ref)).map(([data]) => JSON.parse(data) as Step);
    const failed = steps.filter(({ kind, outcome }) => kind === 'run' && outcome === 'failed').length;
    const isHeld = state === 'running' || (state === 'delivering' && !deliveries(ref, profile, steps));
    set(laneKey(profile, route), isHeld ? GONE : null, failed, steps.length, ref);
  }
  db.exec(`PRAGMA user_version = ${FORMAT}`);
}

/** Inserts the open deliveries of a dispatch. The function returns false when there are none, or a sender waited for them. */
function createDeliveries(db: Connection): (ref: Ref, profile: string, steps: readonly Step[]) => boolean {
  const bodyOf = db.query<[string]>('SELECT body FROM dispatch WHERE ref = ?');
  const put = db.change('INSERT INTO delivery VALUES (?, ?, ?, ?, 0, NULL)');
  return (ref, profile, steps) => {
    const { deliveries, mode, replay_of } = JSON.parse(bodyOf.get(ref)?.[0] ?? '{}') as Dispatch;
    if (mode === 'direct' && replay_of === null) return false;
    let left = 0;
    for (const [index, { target }] of deliveries.entries()) {
      const last = steps.findLast((step) => step.kind === 'delivery' && step.index === index);
      if (last !== undefined && last.next_at === null) continue;
      put(ref, index, laneKey(profile, target), last?.next_at ?? 0);
      left++;
    }
    return left > 0;
  };
}
