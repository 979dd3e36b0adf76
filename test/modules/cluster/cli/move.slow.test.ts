/** `hookwright store move`, from a gateway on a file to one on PostgreSQL. */
import assert from 'node:assert/strict';
import { existsSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { describe, it } from 'node:test';
import { DatabaseSync } from '@photostructure/sqlite';
import { GUARD_KINDS } from '../../../../base/names.ts';
import { fileSessions } from '../../../../runtime/deliver/sessions.ts';
import { pausedRoutes } from '../../../../runtime/store/records.ts';
import { openOfflineStore } from '../../../../runtime/store/sqlite/open-store.ts';
import type { CliResult } from '../../../helpers/cli.ts';
import { runInProcess } from '../../../helpers/cli.ts';
import { makeAccept, makeAdvance, makeStep, makeTake } from '../../../helpers/dispatches.ts';
import { startGateway } from '../../../helpers/gateway.ts';
import { makeJob } from '../../../helpers/jobs.ts';
import { skipWithoutPostgres } from '../../../helpers/postgres/binaries.ts';
import { runSql, testDatabase } from '../../../helpers/postgres/database.ts';
import { openTestStore } from '../../../helpers/postgres/store.ts';
import { tempDir } from '../../../helpers/temp-dir.ts';

const CONFIG = `
gateway:
  store: { postgres: env:DATABASE_URL }
platforms:
  webhook: { enabled: true, secret: a-literal-secret-for-tests, routes: { alerts: { prompt: "{name}" } } }
`;

const CHAT = { profile: 'default', target: 'telegram', chatId: '-100 7' };
const TURN_AT = '2026-01-01T00:00:00.000Z';

/** What becomes of each table of the file. `moved`: the test compares its rows. */
const AFTER_MOVE: Readonly<Record<string, 'moved' | 'refused unless empty' | 'history' | 'of the file'>> = {
  claim: 'moved',
  guard_state: 'moved',
  job: 'moved',
  job_state: 'moved',
  delivery: 'refused unless empty',
  coalesce_group: 'refused unless empty',
  work: 'history',
  dispatch: 'history',
  answer: 'history',
  step: 'history',
  message: 'history',
  job_tick: 'history',
  tally: 'history',
  usage: 'history',
  figure: 'history',
  meta: 'of the file',
};

interface MoveBench {
  readonly home: string;
  readonly url: string;
  readonly move: (...flags: readonly string[]) => Promise<CliResult>;
}

/** A home with 30 dispatches, some of which are still pending. */
async function place(t: TestContext, open = 0): Promise<MoveBench> {
  const home = tempDir(t);
  const url = await testDatabase(t);
  writeFileSync(join(home, 'config.yaml'), CONFIG, { mode: 0o600 });
  const store = await openOfflineStore(join(home, 'state.db'));
  const last = 2_000_000_000_000;
  for (let n = 0; n < 30; n++) {
    const claim = { ...makeAccept(`d${n}`).claim, expires_at: last } as NonNullable<
      ReturnType<typeof makeAccept>['claim']
    >;
    await store.write(makeAccept(`d${n}`, { claim }));
  }
  const { runs } = await store.write(makeTake(2000, { runs: 30 }));
  for (const { ref } of runs.slice(open)) {
    const steps = [makeStep({ kind: 'delivery', index: 0, outcome: 'ok' })];
    await store.write(makeAdvance(ref, 'done', 3000, { answer: 'said', steps }));
  }
  await store.write({ kind: 'put_job', job: makeJob('report', { name: 'report' }), expect: 'new' });
  await store.write({ kind: 'pause_job', job: 'report', paused: true, now: 4000 });
  await store.close();
  const sessions = fileSessions(() => home);
  await sessions.open(CHAT);
  for (const content of ['one', 'two \0']) await sessions.append(CHAT, { role: 'user', content, at: TURN_AT });
  const env = { DATABASE_URL: url };
  const move = (...flags: readonly string[]): Promise<CliResult> =>
    runInProcess(['store', 'move', '--from', 'sqlite', '--to', 'postgres', ...flags], { home, env });
  return { home, url, move };
}

describe('hookwright store move', { skip: skipWithoutPostgres() }, () => {
  it('moves everything once, keeps the file, and reports it', async (t) => {
    const { home, url, move } = await place(t);
    const dry = await move('--dry-run');
    assert.equal(dry.code, 0, dry.stderr);
    assert.match(dry.stdout, /\b30\n.*\b1\n.*\b1$/m);
    assert.equal((await runSql(url, "SELECT 1 FROM pg_namespace WHERE nspname = 'hookwright'")).length, 0);
    assert.ok(existsSync(join(home, 'state.db')));

    const moved = await move('--json');
    assert.equal(moved.code, 0, moved.stderr);
    const { outcome, count, file } = JSON.parse(moved.stdout);
    assert.deepEqual([outcome, count.claims, file], ['moved', 30, join(home, 'state.db.moved')]);
    assert.equal(existsSync(join(home, 'state.db')), false);
    assert.ok(existsSync(file));

    const store = await openTestStore(url, 'hookwright');
    t.after(() => store.close());
    assert.deepEqual(await store.read({ kind: 'audit' }), []);
    const jobs = await store.read({ kind: 'jobs' });
    assert.deepEqual(
      jobs.records.map(({ id, name }) => [id, name]),
      [['report', 'report']],
    );
    assert.equal(jobs.states.report?.paused, true);
    assert.deepEqual(
      (await store.state?.sessions.read(CHAT))?.map(({ content }) => content),
      ['one', 'two \0'],
    );
    assert.equal(await store.state?.sessions.append(CHAT, { role: 'user', content: 'three', at: TURN_AT }), true);
    const again = makeAccept('again', { claim: makeAccept('d3').claim });
    assert.equal((await store.write(again)).kind, 'duplicate');
    assert.equal((await store.write(makeAccept('new'))).kind, 'stored');

    const nothing = await move();
    assert.equal(nothing.code, 1);
  });

  it('carries each table of the file that is not history, and each kind of row of the guard', async (t) => {
    const { home, url, move } = await place(t);
    const file = join(home, 'state.db');
    const before = await openOfflineStore(file);
    for (const kind of GUARD_KINDS) {
      if (kind === 'pause') continue;
      const row = { kind, key: `key of ${kind}` };
      const body = kind === 'runs' ? { times: [7], held: [3], until: 9 } : { told: `${kind} \0` };
      const change = { expect: null, body: JSON.stringify(body), expires_at: 2_000_000_000_000, dispatch: null };
      assert.ok(await before.write({ kind: 'put_guard', row, ...change, now: 5000 }));
    }
    const pause = { profile: 'default', route: 'alerts', paused: true, until: null, now: 5000 } as const;
    await before.write({ kind: 'pause_route', ...pause });
    await before.close();
    // A gateway that served the empty database has given it an id.
    const first = await openTestStore(url, 'hookwright');
    const id = { kind: 'installation', key: 'key of installation' } as const;
    const own = { expect: null, body: '"other"', expires_at: null, dispatch: null, now: 5000 };
    await first.write({ kind: 'put_guard', row: id, ...own });
    await first.close();
    const rowsOf = async (query: (sql: string) => Promise<readonly object[]>): Promise<readonly unknown[]> => {
      const found = [
        await query('SELECT key, expires_at FROM claim ORDER BY key'),
        await query("SELECT key, body, expires_at FROM guard_state WHERE kind NOT IN ('session', 'runs') ORDER BY id"),
        await query('SELECT id, profile, name, body FROM job'),
        await query('SELECT job, CAST(paused AS integer) AS paused, "cursor", signature, paused_until FROM job_state'),
      ];
      // One driver returns large numbers as texts.
      return found.map((rows) => rows.map((row) => Object.values(row).map(String)));
    };
    const db = new DatabaseSync(file);
    const tables = db.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").all();
    const stored = await rowsOf(async (sql) => db.prepare(sql).all());
    db.close();
    assert.deepEqual(tables.map(({ name }) => name).sort(), Object.keys(AFTER_MOVE).sort());

    assert.equal((await move()).code, 0);
    const moved = await rowsOf((sql) => runSql(url, `SET search_path = hookwright; ${sql}`));
    assert.deepEqual(moved, stored);
    const runs = await runSql(url, "SELECT body FROM hookwright.guard_state WHERE kind IN ('session', 'runs')");
    assert.deepEqual(runs, [{ body: '{"times":[7],"until":9}' }]);
    const store = await openTestStore(url, 'hookwright');
    t.after(() => store.close());
    const [held] = pausedRoutes(await store.read({ kind: 'guard_rows', of: 'pause' }), 6000);
    assert.deepEqual(held, { profile: 'default', route: 'alerts', since: 5000, until: null });
  });

  it('finishes a move that was interrupted between the database and the file', async (t) => {
    const { home, move } = await place(t);
    assert.equal((await move()).code, 0);
    renameSync(join(home, 'state.db.moved'), join(home, 'state.db'));
    const { code, stdout, stderr } = await move('--json');
    assert.equal(code, 0, stderr);
    assert.equal(JSON.parse(stdout).outcome, 'already');
    assert.equal(existsSync(join(home, 'state.db')), false);
  });

  it('moves nothing if a row is not stored, and leaves the file unchanged', async (t) => {
    const { home, url, move } = await place(t);
    await (await openTestStore(url, 'hookwright')).close();
    await runSql(url, "ALTER TABLE hookwright.claim ADD CHECK (key NOT LIKE '%d29%')");
    const { code, stderr } = await move();
    assert.equal(code, 1);
    assert.match(stderr, /^error: .*check constraint/m);
    assert.equal((await runSql(url, 'SELECT 1 FROM hookwright.job')).length, 0);
    assert.ok(existsSync(join(home, 'state.db')));
  });

  it('is rejected while work is pending', async (t) => {
    const { home, move } = await place(t, 2);
    for (const flags of [['--dry-run'], []]) {
      const { code, stderr } = await move(...flags);
      assert.equal(code, 1);
      assert.match(stderr, /^error: 2 /m);
    }
    assert.ok(existsSync(join(home, 'state.db')));
  });

  it('is rejected while a gateway serves this home or the database, and if the database has data', async (t) => {
    const { home, url, move } = await place(t);
    const other = await openTestStore(url, 'hookwright');
    const served = await move();
    assert.equal(served.code, 1);
    assert.match(served.stderr, /^error: 1 /m);
    await other.write(makeAccept('x'));
    await other.close();
    const full = await move();
    assert.match(full.stderr, /^error: /m);
    const gateway = await startGateway(t, { home, config: CONFIG, env: { DATABASE_URL: url } });
    const running = await move();
    assert.match(running.stderr, /^error: .*\n.*hookwright gateway stop\n/m);
    await gateway.stop();
  });
});
