/** `hookwright store move`, from a gateway on a file to one on PostgreSQL. */
import assert from 'node:assert/strict';
import { existsSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { describe, it } from 'node:test';
import { idOf } from '../../../../modules/workbench/runtime/capture/request-id.ts';
import { openCaptureFile } from '../../../../modules/workbench/runtime/capture/sqlite/schema.ts';
import { fileSessions } from '../../../../runtime/deliver/sessions/file-sessions.ts';
import { connect } from '../../../../runtime/store/sqlite/driver.ts';
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

interface Place {
  readonly home: string;
  readonly url: string;
  readonly move: (...flags: readonly string[]) => Promise<CliResult>;
}

/** A home with 30 dispatches: two thirds have ended, one is running. */
async function place(t: TestContext): Promise<Place> {
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
  const { runs } = await store.write(makeTake(2000, { runs: 21 }));
  for (const { ref } of runs.slice(1)) {
    const steps = [makeStep({ kind: 'delivery', index: 0, outcome: 'ok' })];
    await store.write(makeAdvance(ref, 'done', 3000, { answer: 'said', steps }));
  }
  await store.write({ kind: 'put_job', job: makeJob('report', { name: 'report' }), expect: 'new' });
  await store.close();
  const sessions = fileSessions(() => home);
  await sessions.open(CHAT);
  for (const content of ['one', 'two \0']) await sessions.append(CHAT, { role: 'user', content, at: TURN_AT });
  keepRequests(home);
  const env = { DATABASE_URL: url };
  const move = (...flags: readonly string[]): Promise<CliResult> =>
    runInProcess(['store', 'move', '--from', 'sqlite', '--to', 'postgres', ...flags], { home, env });
  return { home, url, move };
}

const REQUESTS = 40;
const NUMBER = 1_800_000_000_000_000;
const BODY = Buffer.from([0, 0xff, 0x27, 0x5c]);

/** The newest one has a binary body, the others have none. */
function keepRequests(home: string): void {
  const db = openCaptureFile(connect, join(home, 'requests.db'));
  const put = db.change('INSERT INTO request VALUES (?, ?, ?, ?, ?, ?, ?)');
  const head = { at: TURN_AT, profile: 'default', route: 'alerts', outcome: 'accepted', path: '/a\0', headers: [] };
  for (let n = 1; n <= REQUESTS; n++) {
    const body = n === REQUESTS ? BODY : null;
    put(NUMBER + n, 'default', 'alerts', 'accepted', null, JSON.stringify(head), body);
  }
  db.close();
}

describe('hookwright store move', { skip: skipWithoutPostgres() }, () => {
  it('moves everything once, keeps the file, and says what it did', async (t) => {
    const { home, url, move } = await place(t);
    const dry = await move('--dry-run');
    assert.equal(dry.code, 0, dry.stderr);
    assert.match(
      dry.stdout,
      /^dispatches +30\nopen deliveries +0\nanswers +20\nattempts +2[01]\ndelivery ids +30\njobs +1\ninstants of jobs +0\nsessions +1\nkept requests +40$/m,
    );
    assert.match(dry.stderr, /nothing moved yet/);
    assert.equal((await runSql(url, "SELECT 1 FROM pg_namespace WHERE nspname = 'hookwright'")).length, 0);
    assert.ok(existsSync(join(home, 'state.db')));

    const moved = await move('--json');
    assert.equal(moved.code, 0, moved.stderr);
    const { outcome, count, file } = JSON.parse(moved.stdout);
    assert.deepEqual([outcome, count.dispatches, file], ['moved', 30, join(home, 'state.db.moved')]);
    assert.equal(existsSync(join(home, 'state.db')), false);
    assert.ok(existsSync(file) && existsSync(join(home, 'requests.db.moved')));

    const store = await openTestStore(url, 'hookwright');
    t.after(() => store.close());
    assert.deepEqual(await store.read({ kind: 'audit' }), []);
    const [tally] = (await store.read({ kind: 'overview', now: 0 })).tallies;
    assert.deepEqual([tally?.accepted, tally?.done, tally?.pending, tally?.running], [30, 20, 10, 0]);
    assert.deepEqual(
      (await store.state?.sessions.read(CHAT))?.map(({ content }) => content),
      ['one', 'two \0'],
    );
    assert.equal(await store.state?.sessions.append(CHAT, { role: 'user', content: 'three', at: TURN_AT }), true);
    const again = makeAccept('again', { claim: makeAccept('d3').claim });
    assert.equal((await store.write(again)).kind, 'duplicate');
    assert.equal((await store.write(makeAccept('new'))).kind, 'stored');

    assert.equal(existsSync(join(home, 'requests.db')), false);
    const env = { DATABASE_URL: url };
    const listed = await runInProcess(['requests', 'list', '--limit', '100', '--json'], { home, env });
    assert.equal(JSON.parse(listed.stdout).length, REQUESTS, listed.stderr);
    const shown = await runInProcess(['requests', 'show', idOf(NUMBER + REQUESTS), '--json'], { home, env });
    const { path, body_base64 } = JSON.parse(shown.stdout);
    assert.deepEqual([path, Buffer.from(body_base64, 'base64')], ['/a\0', BODY]);

    const nothing = await move();
    assert.equal(nothing.code, 1);
    assert.match(nothing.stderr, /there is nothing to move/);
  });

  it('finishes a move that was cut off between the database and the file', async (t) => {
    const { home, move } = await place(t);
    assert.equal((await move()).code, 0);
    renameSync(join(home, 'state.db.moved'), join(home, 'state.db'));
    const { code, stdout, stderr } = await move('--json');
    assert.equal(code, 0, stderr);
    assert.equal(JSON.parse(stdout).outcome, 'already');
    assert.equal(existsSync(join(home, 'state.db')), false);
  });

  it('moves nothing where a row is not taken, and leaves the file where it is', async (t) => {
    const { home, url, move } = await place(t);
    await (await openTestStore(url, 'hookwright')).close();
    await runSql(url, "ALTER TABLE hookwright.dispatch ADD CHECK (id <> 'd29')");
    const { code, stderr } = await move();
    assert.equal(code, 1);
    assert.match(stderr, /error: the database: .*check constraint/);
    assert.equal((await runSql(url, 'SELECT 1 FROM hookwright.dispatch')).length, 0);
    assert.ok(existsSync(join(home, 'state.db')) && existsSync(join(home, 'requests.db')));
  });

  it('moves nothing where the kept requests cannot be read, and goes on without them', async (t) => {
    const { home, move } = await place(t);
    const kept = join(home, 'requests.db');
    for (const end of ['-wal', '-shm']) rmSync(kept + end, { force: true });
    writeFileSync(kept, 'x'.repeat(10_000));
    const { code, stderr } = await move();
    assert.equal(code, 1);
    assert.match(stderr, /error: kept requests: .*requests\.db cannot be read: .*\n {2}to move the rest without them/);
    assert.ok(existsSync(join(home, 'state.db')));
    renameSync(kept, `${kept}.damaged`);
    assert.equal(JSON.parse((await move('--json')).stdout).requests_file, null);
  });

  it('refuses while a gateway serves this home, or from the database, and where something is stored already', async (t) => {
    const { home, url, move } = await place(t);
    const other = await openTestStore(url, 'hookwright');
    const served = await move();
    assert.equal(served.code, 1);
    assert.match(served.stderr, /error: 1 gateway serves from the database\n {2}stop it first/);
    await other.write(makeAccept('x'));
    await other.close();
    const full = await move();
    assert.match(full.stderr, /error: the database holds .* already\n {2}name an empty schema/);
    const gateway = await startGateway(t, { home, config: CONFIG, env: { DATABASE_URL: url } });
    const running = await move();
    assert.match(running.stderr, /error: a gateway serves this home\n {2}stop it first: hookwright gateway stop\n/);
    await gateway.stop();
  });
});
