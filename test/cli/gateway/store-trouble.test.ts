/** Commands with a running gateway whose store is missing or damaged. */
import assert from 'node:assert/strict';
import { closeSync, openSync, renameSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { connect } from '../../../runtime/store/sqlite/driver.ts';
import type { CliResult } from '../../helpers/cli.ts';
import { runInProcess } from '../../helpers/cli.ts';
import { makeAccept } from '../../helpers/dispatches.ts';
import { startGateway, until } from '../../helpers/gateway.ts';
import { openOfflineStore } from '../../helpers/rescued-store.ts';
import { tempDir } from '../../helpers/temp-dir.ts';

const CONFIG = `platforms:
  webhook:
    enabled: true
    secret: a-secret-of-a-store-in-trouble
    routes:
      hello: { prompt: "Hello {name}" }
`;

const PAGE_BYTES = 4096;

/** Zeroes the first page of a table or an index. */
function zeroPage(path: string, table: string): void {
  const db = connect(path, { busyMs: 0 });
  const [page = 0] = db.query<[number]>('SELECT rootpage FROM sqlite_schema WHERE name = ?').get(table) ?? [];
  db.close();
  const file = openSync(path, 'r+');
  writeSync(file, Buffer.alloc(PAGE_BYTES), 0, PAGE_BYTES, (page - 1) * PAGE_BYTES);
  closeSync(file);
}

interface Check {
  readonly subject: string;
  readonly status: string;
  readonly detail: string;
}

/** The checks of the store in `doctor --json`. */
function storeCheck({ stdout }: CliResult): Check {
  const check = (JSON.parse(stdout) as readonly Check[]).find(({ subject }) => subject === 'store');
  assert.ok(check !== undefined, stdout);
  return check;
}

async function homeWithEvents(home: string): Promise<string> {
  const path = join(home, 'state.db');
  const store = await openOfflineStore(path);
  for (const id of ['a', 'b']) await store.write(makeAccept(id));
  await store.close();
  return path;
}

describe('a store that is moved away at run time', () => {
  it('is still listed, and doctor reports that the gateway rejects events', async (t) => {
    const home = tempDir(t);
    const path = await homeWithEvents(home);
    const gateway = await startGateway(t, { home, config: CONFIG });
    renameSync(path, `${path}.moved`);
    await until(async () => (await gateway.status()).store.problem !== null);
    const list = await gateway.cli('deliveries', 'list', '--json');
    assert.equal((JSON.parse(list.stdout) as unknown[]).length, 2);
    const doctor = await gateway.cli('doctor', '--json');
    assert.equal(doctor.code, 1);
    const { status, detail } = storeCheck(doctor);
    assert.deepEqual([status, detail.includes(path)], ['failed', true]);
    renameSync(`${path}.moved`, path);
  });
});

describe('a damaged page', () => {
  it('found by a read is an error in the log, in status and in doctor', async (t) => {
    const home = tempDir(t);
    // A start does not read this page.
    zeroPage(await homeWithEvents(home), 'dispatch_route');
    const gateway = await startGateway(t, { home, config: CONFIG });
    const list = await gateway.cli('deliveries', 'list', '--route', 'alerts');
    assert.match(list.stderr, /malformed/);
    await until(async () => /"level":"error".*state\.db.*malformed/.test(gateway.running.stderr()));
    const { damage } = (await gateway.status()).store;
    assert.match(damage?.message ?? '', /malformed/);
    const { status, detail } = storeCheck(await gateway.cli('doctor', '--json'));
    assert.deepEqual([status, detail.includes('malformed')], ['failed', true]);
  });

  it('found by a start prevents it', async (t) => {
    const home = tempDir(t);
    zeroPage(await homeWithEvents(home), 'meta');
    writeFileSync(join(home, 'config.yaml'), CONFIG, { mode: 0o600 });
    for (const argv of [
      ['gateway', 'run', '--port', '0'],
      ['deliveries', 'list'],
    ]) {
      const { code, stderr } = await runInProcess(argv, { home });
      assert.equal(code, 1);
      assert.match(stderr, /^error: .*state\.db.*malformed\n {2}\S/m);
    }
    assert.equal(storeCheck(await runInProcess(['doctor', '--json'], { home })).status, 'failed');
  });
});
