/** Taking work looks at what is due alone, however much has ended or waits: by its indexes, and without sorting. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { it } from 'node:test';
import { connect } from '../../../../runtime/store/sqlite/driver.ts';
import { createTables } from '../../../../runtime/store/sqlite/schema.ts';
import * as queries from '../../../../runtime/store/sqlite/work-queries.ts';
import { tempDir } from '../../../helpers/temp-dir.ts';

const PLANS: Readonly<Record<keyof typeof queries, RegExp>> = {
  DUE_RUNS: /^SEARCH work USING INDEX work_due \(lane=\? AND due_at<\?\)$/,
  NEXT_RUN_LANE: /^SEARCH work USING COVERING INDEX work_due \(lane>\?\)$/,
  NEXT_RUN: /^SEARCH work USING COVERING INDEX work_due \(lane=\?\)$/,
  LATER_RUN: /^SEARCH work USING COVERING INDEX work_due \(lane=\? AND due_at>\?\)$/,
  HELD_RUNS: /^(?:SEARCH|SCAN) work USING INDEX work_held/,
  DUE_ATTEMPTS: /^SEARCH delivery USING (?:COVERING )?INDEX delivery_due \(lane=\? AND due_at<\?\)$/,
  NEXT_ATTEMPT_LANE: /^SEARCH delivery USING (?:COVERING )?INDEX delivery_due \(lane>\?\)$/,
  NEXT_ATTEMPT: /^SEARCH delivery USING (?:COVERING )?INDEX delivery_due \(lane=\?\)$/,
  LATER_ATTEMPT: /^SEARCH delivery USING (?:COVERING )?INDEX delivery_due \(lane=\? AND due_at>\?\)$/,
  HELD_ATTEMPTS: /^SEARCH delivery USING (?:COVERING )?INDEX delivery_held \(holder=\? AND lane=\?\)$/,
};

it('finds due work by its indexes', (t) => {
  const db = connect(join(tempDir(t), 'x.db'), { busyMs: 0 });
  t.after(() => db.close());
  createTables(db);
  for (const [name, text] of Object.entries(queries)) {
    const expected = PLANS[name as keyof typeof queries];
    const values = [...text.matchAll(/\?/g)].map(() => null);
    const plan = db.query<[number, number, number, string]>(`EXPLAIN QUERY PLAN ${text}`).all(...values);
    assert.equal(plan.length, 1, `${name}: ${JSON.stringify(plan)}`);
    assert.match(plan[0]?.[3] ?? '', expected, name);
  }
});
