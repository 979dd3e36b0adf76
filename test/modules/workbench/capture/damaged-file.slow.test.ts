/** Tests a corpus of damaged requests.db files: requests are captured and listed again, and the process never ends. */
import assert from 'node:assert/strict';
import { copyFileSync, existsSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Check } from '../../../../cli/base/check.ts';
import { openRequestFile, RequestFile } from '../../../../modules/workbench/runtime/capture/request-file.ts';
import { capturePath, firstNumber } from '../../../../modules/workbench/runtime/capture/requests.ts';
import type { KeptHead } from '../../../../runtime/intake/keeper.ts';
import type { NewRequestRow } from '../../../../runtime/store/shared.ts';
import { connect } from '../../../../runtime/store/sqlite/driver.ts';
import { fileDamages } from '../../../faults/file-damage.ts';
import { startGateway, until } from '../../../helpers/gateway.ts';
import { sendAgain } from '../../../helpers/send-again.ts';
import { tempDir } from '../../../helpers/temp-dir.ts';

const FILES = ['', '-wal', '-shm'];

const headOf = (at: number): KeptHead => ({
  ...{ at, profile: 'default', route: 'r', method: 'POST', outcome: 'accepted', status: 202, stage: 'dispatch' },
  ...{ reason: null, event: 'push', delivery_id: 'd', verified: true, body_bytes: 1, path: '/webhooks/r', headers: [] },
  ...{ body_sha256: null, scheme: null, about: null, cause: null, dispatch_id: null, replay_of: null, ms: 1 },
});
const row = (n: number): NewRequestRow => ({
  ...{ n, profile: 'default', route: 'r', outcome: 'accepted', reason: null },
  head: JSON.stringify(headOf(n)),
  body: Buffer.from(`body ${n} `.repeat(200)),
});

function copyFile(from: string, to: string): void {
  for (const end of FILES) {
    rmSync(to + end, { force: true });
    if (existsSync(from + end)) copyFileSync(from + end, to + end);
  }
}

/** Copies of a file: after a clean stop, after a kill, and an older copy. */
function makeFiles(root: string): Readonly<Record<'stopped' | 'killed' | 'older', string>> {
  const at = join(root, 'requests.db');
  const [stopped, killed, older] = ['stopped.db', 'killed.db', 'older.db'].map((name) => join(root, name));
  const write = (from: number, then: string | undefined): RequestFile => {
    const file = new RequestFile(at);
    for (let n = from; n < from + 10; n++) file.add([row(n)]);
    if (then !== undefined) copyFile(at, then);
    return file;
  };
  write(1, older).close();
  write(11, killed).close();
  const db = connect(at, { busyMs: 1000 });
  db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  db.close();
  copyFile(at, stopped ?? '');
  return { stopped: stopped ?? '', killed: killed ?? '', older: older ?? '' };
}

/** Lists twice: a damaged file is reported once, and replaced with the next captured request. */
async function listed(home: string): Promise<readonly string[]> {
  const captured = openRequestFile(home);
  try {
    const found = await captured.list({}, { limit: 100 });
    for (const { id } of found) await captured.load(id);
    return found.map(({ id }) => id);
  } finally {
    await captured.close();
  }
}

test('captures and lists requests again after damage of requests.db', async (t) => {
  const root = tempDir(t);
  const files = makeFiles(root);
  const path = capturePath(root);
  let isSaid = 0;
  for (const source of [files.stopped, files.killed]) {
    for (const end of FILES.filter((each) => existsSync(source + each))) {
      for (const { name, count, apply } of fileDamages(20, 100)) {
        for (let n = 0; n < count; n++) {
          copyFile(source, path);
          apply(path + end, n, files.older + end);
          const file = new RequestFile(path);
          if (n % 2 === 0) file.add([row(1000)]);
          const first = await listed(root).catch((error: Error) => {
            assert.match(error.message, /requests/, `${name} ${n} of ${end}`);
            isSaid++;
            return null;
          });
          file.add([row(1001)]);
          file.trim(5, 1_000_000);
          file.add([row(1002)]);
          file.close();
          const ids = await listed(root);
          assert.ok(ids.includes((1002).toString(36).padStart(10, '0')), `${name} ${n} of ${end}: ${first}`);
          // The driver closes a file once its statements have been collected.
          await new Promise((resolve) => setImmediate(resolve));
        }
      }
    }
  }
  t.diagnostic(`${isSaid} said`);
});

test('logs the loss of a damaged requests.db once, and doctor reports it until requests expire', async (t) => {
  const home = tempDir(t);
  const config = `platforms: { webhook: { enabled: true, secret: INSECURE_NO_AUTH, routes: { r: { prompt: x, agent: none } } } }`;
  const gateway = await startGateway(t, { home, config });
  const post = async (): Promise<void> => {
    const headers = { 'content-type': 'application/json' };
    await sendAgain(`${gateway.url}/webhooks/r`, { method: 'POST', headers, body: '{"a":1}' });
  };
  const captured = async (): Promise<number> =>
    (JSON.parse((await gateway.cli('requests', 'list', '--json')).stdout || '[]') as unknown[]).length;
  const said = async () => {
    const checks = JSON.parse((await gateway.cli('doctor', '--json')).stdout) as Check[];
    return checks.filter(({ subject }) => subject === 'captured requests');
  };
  const logged = (): number => gateway.running.stderr().split('file of captured requests was damaged').length - 1;
  await post();
  assert.equal(await captured(), 1);
  assert.deepEqual(await said(), []);
  const path = capturePath(home);
  for (const end of FILES) {
    if (existsSync(path + end)) writeFileSync(path + end, Buffer.alloc(statSync(path + end).size, 7));
  }
  await post();
  await until(async () => (await captured()) === 1);
  await post();
  assert.equal(await captured(), 2);
  assert.equal(logged(), 1, gateway.running.stderr());
  const [check, other] = await said();
  assert.deepEqual([check?.status, other], ['warning', undefined]);
  assert.match(check?.detail ?? '', /^\d{4}-.* \d{3,} bytes /);
  await gateway.stop();
  assert.equal((await said()).length, 1);
  const file = new RequestFile(path);
  file.trim(firstNumber(Date.now() + 1000), 1_000_000);
  file.close();
  assert.deepEqual(await said(), []);
});
