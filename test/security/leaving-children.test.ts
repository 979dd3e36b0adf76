import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { describe, it } from 'node:test';
import type { Clock } from '../../runtime/platform/clock.ts';
import { systemClock } from '../../runtime/platform/clock.ts';
import type { ProcessRequest, ProcessResult } from '../../runtime/platform/process/run-process.ts';
import { runProcess } from '../../runtime/platform/process/run-process.ts';
import { FakeClock } from '../helpers/fake-clock.ts';
import { until } from '../helpers/gateway.ts';
import { tempDir } from '../helpers/temp-dir.ts';

const LINUX = { skip: process.platform !== 'linux' };

/** A shell script that starts a typical daemon: fork, a new session, fork again, its pipes closed. */
function daemon(t: TestContext, lead = ''): { readonly script: string; readonly pid: () => number } {
  const file = join(tempDir(t), 'pid');
  const inner = `echo $$ > ${file}; exec sleep 600`;
  const script = `(${lead} setsid sh -c '(sh -c "${inner.replace('$$', '\\$\\$')}") &' >/dev/null 2>&1 </dev/null &)
    while ! test -s ${file}; do sleep 0.01; done`;
  const pid = (): number => Number(readFileSync(file, 'utf8'));
  t.after(() => {
    if (existsSync(file) && alive(pid())) process.kill(pid(), 'SIGKILL');
  });
  return { script, pid };
}

/** A process that waits to be reaped does not count as alive. */
function alive(pid: number): boolean {
  try {
    return !/^State:\s+[ZX]/m.test(readFileSync(`/proc/${pid}/status`, 'latin1'));
  } catch {
    return false;
  }
}

function sh(script: string, more: Partial<ProcessRequest> = {}, clock: Clock = systemClock): Promise<ProcessResult> {
  const request = { argv: ['/bin/sh', '-c', script], cwd: '/', env: { PATH: process.env.PATH }, stdin: '' };
  return runProcess({ ...request, timeoutMs: 60_000, maxStdoutBytes: 1024, ...more }, { clock, home: '/nonexistent' });
}

describe('a child that has left the process group', LINUX, () => {
  it('has ended once the timeout is reported', async (t) => {
    const { script, pid } = daemon(t);
    const clock = new FakeClock();
    const running = sh(`${script}; sleep 60`, { timeoutMs: 700 }, clock);
    await until(async () => existsPid(pid));
    clock.advance(700);
    const result = await passing(clock, running);
    assert.equal(result.kind, 'timeout');
    assert.equal(alive(pid()), false);
  });

  it('has ended once the run succeeded', async (t) => {
    const { script, pid } = daemon(t);
    assert.equal((await sh(script)).kind, 'exit');
    // A killed process loses its environment before it is seen as ended.
    await until(async () => !alive(pid()));
  });

  it('has ended after an abort and after too much output', async (t) => {
    const aborted = daemon(t);
    const stop = new AbortController();
    const running = sh(`${aborted.script}; sleep 60`, { signal: stop.signal });
    await until(async () => existsPid(aborted.pid));
    stop.abort();
    assert.equal((await running).kind, 'aborted');
    assert.equal(alive(aborted.pid()), false);
    const loud = daemon(t);
    assert.equal((await sh(`${loud.script}; yes`)).kind, 'overflow');
    assert.equal(alive(loud.pid()), false);
  });

  it('is killed with its own children, however many it starts', async (t) => {
    const dir = tempDir(t);
    const name = join(dir, 'child.sh');
    writeFileSync(
      name,
      `for i in $(seq 100); do setsid sh -c 'echo $$ >> ${dir}/pids; exec sleep 600' & sleep 0.01; done`,
    );
    const some = `until [ "$(wc -l 2>/dev/null <${dir}/pids || echo 0)" -gt 3 ]; do sleep 0.01; done`;
    await sh(`for i in 1 2 3; do setsid sh ${name} & done; ${some}`);
    const pids = readFileSync(join(dir, 'pids'), 'latin1').trim().split('\n').map(Number);
    t.after(() => {
      for (const pid of pids.filter(alive)) process.kill(pid, 'SIGKILL');
    });
    assert.ok(pids.length > 3);
    await until(async () => !pids.some(alive));
  });

  it('of another run is not killed', async (t) => {
    const other = daemon(t);
    const stop = new AbortController();
    const running = sh(`${other.script}; sleep 60`, { signal: stop.signal });
    await until(async () => existsPid(other.pid));
    assert.equal((await sh('sleep 60', { timeoutMs: 50 })).kind, 'timeout');
    assert.equal(alive(other.pid()), true);
    stop.abort();
    await running;
    assert.equal(alive(other.pid()), false);
  });
});

/** Waits until it has ended. */
async function passing<T>(clock: FakeClock, work: Promise<T>): Promise<T> {
  const timer = setInterval(() => clock.advance(100), 10);
  return work.finally(() => clearInterval(timer));
}

function existsPid(pid: () => number): boolean {
  try {
    return pid() > 0;
  } catch {
    return false;
  }
}
