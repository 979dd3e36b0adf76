/** A gateway that starts on a disk that is full or read-only. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { describe, it } from 'node:test';
import { runInProcess } from '../helpers/cli.ts';
import { GatewayEnded, startGatewayProcess } from '../helpers/gateway-process.ts';
import { tempDir } from '../helpers/temp-dir.ts';
import { tinyDisk } from '../helpers/tiny-disk.ts';
import { holdsWithin } from './observe.ts';
import { prepareHome, send, writeConfig } from './short-run.ts';

const NEEDS = 'needs the right to mount a file system';

const start = (t: TestContext, home: string) => startGatewayProcess({ home, outputFolder: tempDir(t) });

function remount(disk: string, mode: 'ro' | 'rw'): void {
  assert.equal(spawnSync('mount', ['-o', `remount,${mode}`, disk]).status, 0);
}

/** Uses all the free space. @returns a function that releases it */
function fill(disk: string): () => void {
  const ballast = join(disk, 'ballast');
  assert.throws(() => writeFileSync(ballast, Buffer.alloc(9_000_000)), { code: 'ENOSPC' });
  return () => rmSync(ballast);
}

async function refusalOf(t: TestContext, home: string): Promise<string> {
  const error = await start(t, home).then(
    () => assert.fail('it starts'),
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof GatewayEnded, String(error));
  return error.message;
}

describe('a start on a full disk', { concurrency: 2 }, () => {
  it('runs, rejects events, and accepts them once there is room', async (t) => {
    const disk = tinyDisk(t, '8m');
    if (disk === null) return t.skip(NEEDS);
    const home = join(disk, 'home');
    await prepareHome(home);
    const makeRoom = fill(disk);
    const gateway = await start(t, home);
    t.after(gateway.kill);
    assert.equal((await fetch(`${gateway.url}/health`)).status, 200);
    const { status, code, retryAfter } = await send(gateway.url, { id: 'refused', route: 'runs' });
    assert.deepEqual([status, code, retryAfter !== null], [503, 'overloaded', true]);
    assert.match(gateway.output(), /"reason":"[^"]*state\.db\b[^"]*"/);
    const shown = await runInProcess(['gateway', 'status'], { home });
    assert.equal(shown.code, 0, shown.stderr);
    assert.match(shown.stdout, /\bstate\.db\b/);
    const metrics = await runInProcess(['gateway', 'metrics'], { home });
    assert.match(metrics.stdout, /^hookwright_store_up 0$/m);
    const doctor = await runInProcess(['doctor'], { home });
    assert.match(doctor.stdout, /failed +store .*\bstate\.db\b/);
    makeRoom();
    const isTaken = async () => (await send(gateway.url, { id: 'taken', route: 'runs' })).status === 202;
    assert.ok(await holdsWithin(300_000, isTaken));
  });

  it('names the tables if the home was never compiled', async (t) => {
    const disk = tinyDisk(t, '8m');
    if (disk === null) return t.skip(NEEDS);
    const home = join(disk, 'home');
    writeConfig(home);
    fill(disk);
    const { code, stdout } = await runInProcess(['doctor'], { home });
    assert.equal(code, 1);
    assert.match(stdout, /failed +store +readable /);
    assert.match(await refusalOf(t, home), /\bbuild\b/);
  });
});

describe('a start on a read-only disk', () => {
  it('reports that the disk is read-only if the home was never compiled, as commands do', async (t) => {
    const disk = tinyDisk(t, '8m');
    if (disk === null) return t.skip(NEEDS);
    const home = join(disk, 'home');
    writeConfig(home);
    remount(disk, 'ro');
    const run = await runInProcess(['gateway', 'run'], { home });
    assert.match(run.stderr, /^error: .*\bbuild\b/m);
    const job = await runInProcess(['job', 'create', 'a', '--schedule', '0 8 * * *', '--prompt', 'Look.'], { home });
    assert.match(job.stderr, /^error: .*\bstate\.db\b/m);
  });

  it('runs, rejects events, and accepts them once it is writable; in the meantime commands that write nothing work', async (t) => {
    const disk = tinyDisk(t, '8m');
    if (disk === null) return t.skip(NEEDS);
    const home = join(disk, 'home');
    await prepareHome(home);
    remount(disk, 'ro');
    const gateway = await start(t, home);
    t.after(gateway.kill);
    assert.equal((await fetch(`${gateway.url}/health`)).status, 200);
    assert.equal((await send(gateway.url, { id: 'refused', route: 'runs' })).status, 503);
    const background = await runInProcess(['gateway', 'start'], { home });
    assert.match(background.stderr, /gateway\.log.*\n.*gateway run/);
    const lint = await runInProcess(['lint'], { home });
    assert.equal(lint.code, 0, lint.stderr);
    const list = await runInProcess(['deliveries', 'list'], { home });
    assert.equal(list.code, 1);
    assert.match(list.stderr, /\bstate\.db\b/);
    assert.match((await runInProcess(['doctor'], { home })).stdout, /store +readable /);
    remount(disk, 'rw');
    const isTaken = async () => (await send(gateway.url, { id: 'taken', route: 'runs' })).status === 202;
    assert.ok(await holdsWithin(300_000, isTaken));
    const isReached = async () => (await runInProcess(['gateway', 'status'], { home })).code === 0;
    assert.ok(await holdsWithin(300_000, isReached));
    await assert.rejects(start(t, home), /another gateway already serves/);
  });
});
