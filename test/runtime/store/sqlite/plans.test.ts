/** Taking work reads only due rows, however many others there are: it uses indexes and does not sort. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { it } from 'node:test';
import { connect } from '../../../../runtime/store/sqlite/driver.ts';
import { createTables } from '../../../../runtime/store/sqlite/schema.ts';
import { HELD_ATTEMPTS, LEFT_RUNS, RELEASE_ATTEMPTS } from '../../../../runtime/store/sqlite/take-work.ts';
import { ATTEMPTS, RUNS } from '../../../../runtime/store/sqlite/turns.ts';
import { tempDir } from '../../../helpers/temp-dir.ts';

const PLANS: readonly (readonly [sql: string, plan: RegExp])[] = [
  [RUNS.due, /^SEARCH work USING INDEX work_due \(lane=\? AND due_at<\?\)$/],
  [RUNS.laneAfter, /^SEARCH work USING COVERING INDEX work_due \(lane>\?\)$/],
  [RUNS.next, /^SEARCH work USING COVERING INDEX work_due \(lane=\?\)$/],
  [RUNS.later, /^SEARCH work USING COVERING INDEX work_due \(lane=\? AND due_at>\?\)$/],
  [LEFT_RUNS, /^(?:SEARCH|SCAN) work USING INDEX work_held/],
  [ATTEMPTS.due, /^SEARCH delivery USING (?:COVERING )?INDEX delivery_due \(lane=\? AND due_at<\?\)$/],
  [ATTEMPTS.laneAfter, /^SEARCH delivery USING (?:COVERING )?INDEX delivery_due \(lane>\?\)$/],
  [ATTEMPTS.next, /^SEARCH delivery USING (?:COVERING )?INDEX delivery_due \(lane=\?\)$/],
  [ATTEMPTS.later, /^SEARCH delivery USING (?:COVERING )?INDEX delivery_due \(lane=\? AND due_at>\?\)$/],
  [HELD_ATTEMPTS, /^SEARCH delivery USING (?:COVERING )?INDEX delivery_held \(holder=\? AND lane=\?\)$/],
  [RELEASE_ATTEMPTS, /^(?:SEARCH|SCAN) delivery USING (?:COVERING )?INDEX delivery_held/],
];

it('finds due work by its indexes', (t) => {
  const db = connect(join(tempDir(t), 'x.db'), { busyMs: 0 });
  t.after(() => db.close());
  createTables(db);
  for (const [sql, expected] of PLANS) {
    const values = (sql.includes('?2') ? ['?1', '?2'] : [...sql.matchAll(/\?/g)]).map(() => null);
    const plan = db.query<[number, number, number, string]>(`EXPLAIN QUERY PLAN ${sql}`).all(...values);
    const tables = plan.map(([, , , step]) => step).filter((step) => / (?:work|delivery) /.test(step));
    assert.equal(tables.length, 1, `${sql}: ${JSON.stringify(plan)}`);
    assert.match(tables[0] ?? '', expected, sql);
  }
});
