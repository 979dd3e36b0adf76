import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { after, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { systemClock } from '../../../../runtime/platform/clock.ts';
import type { ProcessRequest, ProcessResult } from '../../../../runtime/platform/process/run-process.ts';
import { runProcess } from '../../../../runtime/platform/process/run-process.ts';
import { tempDir } from '../../../helpers/temp-dir.ts';

const PATH = process.env.PATH ?? '/usr/bin:/bin';

const home = mkdtempSync(join(tmpdir(), 'run-process-'));
after(() => rmSync(home, { recursive: true }));

function sh(script: string, overrides: Partial<ProcessRequest> = {}): Promise<ProcessResult> {
  const request: ProcessRequest = {
    argv: ['/bin/sh', '-c', script],
    cwd: '/',
    env: { PATH },
    stdin: '',
    timeoutMs: 60_000,
    maxStdoutBytes: 1024 * 1024,
    ...overrides,
  };
  return runProcess(request, { clock: systemClock, home });
}

function exited(result: ProcessResult): Extract<ProcessResult, { kind: 'exit' }> {
  assert.equal(result.kind, 'exit');
  return result as Extract<ProcessResult, { kind: 'exit' }>;
}

/** A program that outlives a call writes so to a file, when asked. */
function leaveBehind(t: TestContext): { readonly left: string; readonly isLeft: () => Promise<boolean> } {
  const dir = tempDir(t);
  return {
    left: `(while ! test -e ${dir}/asked; do sleep 0.05; done; touch ${dir}/here)`,
    isLeft: async () => {
      writeFileSync(join(dir, 'asked'), '');
      await sleep(250);
      return existsSync(join(dir, 'here'));
    },
  };
}

describe('runProcess', () => {
  it('passes stdin and returns stdout, stderr and the exit code', async () => {
    const result = exited(await sh('cat; echo oops >&2; exit 3', { stdin: 'héllo' }));
    assert.deepEqual([result.code, result.stdout.toString(), result.stderr], [3, 'héllo', 'oops\n']);
  });

  it('gives the program the environment of the request and nothing else', async () => {
    const result = exited(await sh('env', { env: { ONLY: 'this' } }));
    assert.match(result.stdout.toString(), /^ONLY=this$/m);
    assert.doesNotMatch(result.stdout.toString(), /^HOME=/m);
  });

  it('accepts a program that never reads a large stdin', async () => {
    const result = exited(await sh('exit 0', { stdin: 'x'.repeat(4 * 1024 * 1024) }));
    assert.equal(result.code, 0);
  });

  it('reads all output of a program that exits right after writing', async () => {
    const result = exited(await sh('head -c 900000 /dev/zero'));
    assert.equal(result.stdout.length, 900000);
  });

  it('reports the signal that ended a program', async () => {
    const result = exited(await sh('kill -TERM $$'));
    assert.deepEqual([result.code, result.signal], [null, 'SIGTERM']);
  });

  it('keeps only the end of stderr', async () => {
    const result = exited(await sh('head -c 100000 /dev/zero >&2; echo END >&2'));
    assert.equal(result.stderr.length, 80 * 1024);
    assert.ok(result.stderr.endsWith('END\n'));
  });

  it('stops a program that prints endlessly', async () => {
    assert.equal((await sh('yes', { maxStdoutBytes: 1000 })).kind, 'overflow');
  });

  it('counts only the lines that are kept', async () => {
    const keepLine = (line: Buffer): boolean => line.includes('keep');
    const limits = { maxStdoutBytes: 1000, keepLine };
    const script =
      'i=0; while [ $i -lt 300 ]; do echo "dropped $i"; i=$((i+1)); done; printf keep; echo " 1"; echo drop; printf end';
    assert.equal(exited(await sh(script, limits)).stdout.toString(), 'keep 1\nend');
    for (const endless of ['yes keep', 'yes | tr -d "\\n"']) assert.equal((await sh(endless, limits)).kind, 'overflow');
  });

  it('kills the whole process group on timeout', async (t) => {
    const { left, isLeft } = leaveBehind(t);
    const result = await sh(`${left} & wait`, { timeoutMs: 100 });
    assert.equal(result.kind, 'timeout');
    assert.equal(await isLeft(), false);
  });

  it('kills the children of a finished program instead of waiting for them', async (t) => {
    const { left, isLeft } = leaveBehind(t);
    const result = exited(await sh(`${left} & echo done`));
    assert.equal(result.stdout.toString(), 'done\n');
    assert.equal(await isLeft(), false);
  });

  it('does not wait for a hidden descendant that left the group and holds the pipe', async (t) => {
    const pid = join(tempDir(t), 'pid');
    // A descendant that has not left when the program ends is killed with the group.
    const leave = `env -i setsid sh -c 'echo $$ > ${pid}; exec sleep 60' &`;
    const result = exited(await sh(`${leave} while ! test -s ${pid}; do sleep 0.01; done; cat ${pid}`));
    // It was alive all the time, and still is.
    assert.ok(process.kill(Number(result.stdout), 'SIGKILL'));
  });

  it('ends on abort, before and during the run', async () => {
    const controller = new AbortController();
    const running = sh('sleep 600', { signal: controller.signal });
    setTimeout(() => controller.abort(), 50);
    assert.equal((await running).kind, 'aborted');
    assert.equal((await sh('true', { signal: controller.signal })).kind, 'aborted');
  });

  const missing: readonly [string, Partial<ProcessRequest>, string][] = [
    ['an unknown program', { argv: ['/nowhere/program'] }, 'ENOENT'],
    ['a program that may not be executed', { argv: ['/etc'] }, 'EACCES'],
    ['a folder that does not exist', { cwd: '/nowhere' }, 'ENOENT'],
    ['an empty argv', { argv: [] }, 'ERR_INVALID_ARG_VALUE'],
    ['a NUL byte in an argument', { argv: ['/bin/echo', 'a\0b'] }, 'ERR_INVALID_ARG_VALUE'],
    ['an argument the system finds too long', { argv: ['/bin/echo', 'x'.repeat(4 * 1024 * 1024)] }, 'E2BIG'],
  ];
  for (const [what, overrides, code] of missing) {
    it(`returns spawn_failed for ${what}`, async () => {
      const result = await sh('', overrides);
      assert.deepEqual(result, { kind: 'spawn_failed', code, stderr: '' });
    });
  }
});
