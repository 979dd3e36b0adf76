/** The corpus of damaged values: damages each column of each table in each way. */
import assert from 'node:assert/strict';
import { copyFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import type { Store } from '../../runtime/store/contract.ts';
import { StoreDamaged } from '../../runtime/store/decode.ts';
import type { Ref } from '../../runtime/store/records.ts';
import { connect } from '../../runtime/store/sqlite/driver.ts';
import {
  HOLDER,
  makeAccept,
  makeAdvance,
  makeClaim,
  makeDispatch,
  makeJoin,
  makeStep,
  makeTake,
  openDeliveries,
} from '../helpers/dispatches.ts';
import { openOfflineStore } from '../helpers/rescued-store.ts';

interface Damage {
  /** SQL; `?` is the column. */
  readonly value: string;
  /** The columns whose value is then invalid; damage of the others need not be reported. */
  readonly isSaid: (column: string, type: string) => boolean;
}

/**
 * Keys that nothing else repeats, texts of any form, and the end of a run, which `deliveries show` shows as damaged.
 */
const FREE = /^(?:meta\.|answer\.program|step\.id|job_tick\.(?:job|ref|missed)|dispatch\.ref)/;
const JSON_TEXT =
  /^(?:work\.(?:lane|reason)|dispatch\.(?:head|body)|delivery\.lane|answer\.text|step\.data|job\.body|claim\.key|message\.key|coalesce_group\.key)$/;
const isNumber = (column: string, type: string): boolean => type === 'INTEGER' && !FREE.test(column);
const isFixed = (column: string): boolean => !FREE.test(column);

export const ROW_DAMAGES: Readonly<Record<string, Damage>> = {
  'invalid UTF-8': { value: "CAST(x'61ff62' AS TEXT)", isSaid: isFixed },
  'a byte of invalid UTF-8 within': {
    value: "CAST(CAST(substr(?, 1, 3) AS BLOB) || x'ff' || CAST(substr(?, 4) AS BLOB) AS TEXT)",
    isSaid: (column) => isFixed(column) && column !== 'claim.key',
  },
  'a wrong type': { value: "x'0102'", isSaid: isFixed },
  'cut JSON': { value: 'substr(?, 1, length(?) - 1)', isSaid: (column) => JSON_TEXT.test(column) },
  'a NUL': { value: 'char(0) || ?', isSaid: isFixed },
  'a huge number': { value: '9223372036854775807', isSaid: isNumber },
  'a negative number': { value: '-9223372036854775807', isSaid: isNumber },
  NULL: { value: 'NULL', isSaid: () => false },
};

/** Columns that nothing reads. */
const UNREAD: ReadonlySet<string> = new Set(['coalesce_group.window_ms', 'coalesce_group.max_wait_ms']);

/** One dispatch in every state, ids "a" to "f". "f" represents other work: it is whole, and due. */
async function fill(store: Store): Promise<void> {
  const now = 1000;
  const write = (id: string): Promise<unknown> => store.write(makeAccept(id, { now, claim: makeClaim(id, 1e12) }));
  for (const id of ['a', 'b', 'c', 'd']) await write(id);
  const { runs } = await store.write(makeTake(now, { runs: 3 }));
  const [run, answered, done] = runs.map(({ ref }) => ref) as [Ref, Ref, Ref];
  await store.write(
    makeAdvance(run, 'pending', now, {
      reason: 'again',
      due_at: 2000,
      steps: [makeStep({ outcome: 'failed', reason: 'x' })],
    }),
  );
  const { dispatch } = makeAccept('b');
  await store.write(
    makeAdvance(answered, 'delivering', now, { answer: 'the answer', open: openDeliveries(dispatch, 1500) }),
  );
  const program = { exit_code: 0, signal: null, stderr: 'a line' };
  await store.write(makeAdvance(done, 'done', now, { answer: 'the answer', program }));
  const message = makeDispatch('m', { mode: 'message' });
  const work = { kind: 'deliveries', answer: null, open: openDeliveries(message, 1500) } as const;
  await store.write(makeAccept('m', { dispatch: message, claim: makeClaim('m', 1e12), work, now }));
  await store.write(makeJoin('e', 'key', now));
  const job = {
    id: 'job-1',
    profile: 'default',
    name: 'daily',
    description: null,
    schedule: '0 8 * * *',
    timezone: 'UTC',
  };
  const record = {
    ...job,
    prompt: 'Look.',
    deliver: [],
    skills: [],
    toolsets: null,
    misfire: 'skip',
    created_at: 1,
    blueprint: null,
  } as const;
  await store.write({ kind: 'put_job', job: record, expect: 'new' });
  await store.write({ kind: 'tick_job', job: 'job-1', due_at: 500, missed: 1, dispatch: null, paused: false, now });
  await store.write({ kind: 'pause_job', job: 'job-1', paused: true, now });
  await write('f');
}

const open = (path: string) => {
  const db = new DatabaseSync(path);
  db.enableDefensive(false);
  db.exec('PRAGMA writable_schema = ON');
  return db;
};

/** Writes the value without the constraints that reject it. Returns false if the table cannot contain it at all. */
function damage(path: string, table: string, column: string, expression: string): boolean {
  const first = open(path);
  const { sql } = first.prepare('SELECT sql FROM sqlite_schema WHERE name = ?').get(table) as { sql: string };
  const setSchema = 'UPDATE sqlite_schema SET sql = ? WHERE name = ?';
  first.prepare(setSchema).run(sql.replace(/\) STRICT/, ')').replaceAll(' NOT NULL', ''), table);
  first.close();
  const second = open(path);
  try {
    const row = table === 'work' || table === 'dispatch' ? ' AND ref = 1' : '';
    const value = expression.replaceAll('?', column);
    const changed = second
      .prepare(`UPDATE ${table} SET ${column} = ${value} WHERE ${column} IS NOT ${value}${row}`)
      .run();
    if (changed.changes === 0) return false;
    return true;
  } catch {
    return false;
  } finally {
    second.prepare(setSchema).run(sql, table);
    second.close();
  }
}

export interface RowHome {
  readonly root: string;
  readonly whole: string;
  readonly columns: readonly (readonly [table: string, column: string, type: string])[];
}

/** @param root an empty folder */
export async function makeRows(root: string): Promise<RowHome> {
  const whole = join(root, 'whole.db');
  const store = await openOfflineStore(whole);
  await fill(store);
  await store.close();
  const db = connect(whole, { busyMs: 0 });
  const columns = db
    .query<[string, string, string]>(
      "SELECT t.name, c.name, c.type FROM sqlite_schema t, pragma_table_info(t.name) c WHERE t.type = 'table'",
    )
    .all();
  db.close();
  return { root, whole, columns };
}

export interface RowResult {
  readonly columns: number;
  readonly said: number;
  /** Damage that stopped other work, or was not reported; empty if there is none. */
  readonly wrong: readonly string[];
}

/**
 * Damages each column in one way, each in a separate file. @param name of ROW_DAMAGES @param openStore as a command, or
 * as a gateway
 */
export async function runRows(
  { root, whole, columns }: RowHome,
  name: string,
  openStore: (path: string) => Promise<Store> = openOfflineStore,
): Promise<RowResult> {
  const { value, isSaid } = ROW_DAMAGES[name] as Damage;
  const wrong: string[] = [];
  let [count, said] = [0, 0];
  for (const [table, column, type] of columns) {
    const at = `${table}.${column}`;
    const path = join(root, `${name} ${at}.db`);
    copyFileSync(whole, path);
    if (!UNREAD.has(at) && damage(path, table, column, value)) {
      count++;
      try {
        const store = await openStore(path);
        const isReported = await use(store, at).finally(() => store.close());
        if (isReported) said++;
        else if (isSaid(at, type)) wrong.push(`${at}: nothing is said`);
      } catch (error) {
        wrong.push(`${at}: ${error instanceof Error ? error.stack : String(error)}`);
      }
    }
    for (const end of ['', '-wal', '-shm', '.id', '.lock']) rmSync(path + end, { force: true });
  }
  return { columns: count, said, wrong };
}

/** Does what a gateway does. Resolves to whether the damage is reported. */
async function use(store: Store, at: string): Promise<boolean> {
  await store.write({ kind: 'recover', holder: HOLDER, now: 3000, under_way: { runs: [], attempts: [] } });
  const { runs, attempts } = await store.write(makeTake(3000, { runs: 10, attempts: 10 }));
  const said: string[] = [];
  for (const { ref } of [...runs, ...attempts]) {
    const stored = await store.read({ kind: 'load', ref }).catch((error: unknown) => error);
    if (!(stored instanceof StoreDamaged)) continue;
    said.push(stored.message);
    await store.write({ kind: 'give_up', ref, at: 3000, reason: stored.message });
  }
  const f = await store.read({ kind: 'find', id: 'f' });
  assert.equal(f.kind === 'found' && f.dispatch.state, 'running', 'the others run');
  const again = await store.write(makeAccept('g', { now: 3000, claim: makeClaim('f', 1e12) }));
  if (at !== 'claim.key') assert.equal(again.kind, 'duplicate');
  assert.equal((await store.write(makeAccept('h', { now: 3000 }))).kind, 'stored');
  await store.write({
    kind: 'tick_job',
    job: 'job-1',
    due_at: 4000,
    missed: 1,
    dispatch: null,
    paused: false,
    now: 3000,
  });
  for (const { accepted_at, state } of await store.read({ kind: 'list', filter: { limit: 100 } }))
    assert.ok(Number.isSafeInteger(accepted_at) && state.length > 0);
  await store.read({ kind: 'jobs' });
  await store.read({ kind: 'job_ticks', job: 'job-1', limit: 10 });
  await store.read({ kind: 'open_work' });
  const { damage: reported, backlog } = await store.read({ kind: 'overview', now: 3000 });
  assert.ok(backlog.runs < 100, `${backlog.runs} waiting`);
  return reported !== null || said.length > 0;
}
