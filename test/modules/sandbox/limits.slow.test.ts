/** Tests that a run which exceeds a limit of its sandbox ends, fails, and says which limit. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { describe, test } from 'node:test';
import type { SandboxPlan } from '../../../schemas/generated/types.ts';
import { tempDir } from '../../helpers/temp-dir.ts';
import { noSandbox, runSandboxed, USERS } from './run-sandboxed.ts';

const [user = 'plain'] = USERS;

async function runWith(t: TestContext, limits: NonNullable<SandboxPlan['limits']>, script: string, as = user) {
  const root = tempDir(t);
  const home = join(root, 'home');
  mkdirSync(join(home, 'work'), { recursive: true });
  const plan: SandboxPlan = { network: [], read: [], write: [], limits };
  const run = { argv: ['bash', '-c', script], stdin: '', cwd: join(home, 'work/run'), plan, timeoutMs: 60_000 };
  if (as !== user) spawnSync('chmod', ['-R', '777', root]);
  const [result] = await runSandboxed(as, { home, userHome: join(root, 'user'), hidden: [], runs: [run] });
  return result ?? assert.fail();
}

const LIMITS = { memory: '300MB', processes: 40, cpu_seconds: 20, disk: '50MB' };
/** Holds this many megabytes for some time. (`$x = "a" x N` would need them twice, and perl would end by itself.) */
const hold = (megabytes: number): string => `perl -e '$x = "a"; $x x= ${megabytes} << 20; sleep 8'`;

describe('limits of a sandbox', { skip: noSandbox }, () => {
  test('do not disturb a run that keeps them', async (t) => {
    const result = await runWith(
      t,
      LIMITS,
      `${hold(100)} & head -c 20000000 /dev/zero >file; for i in 1 2 3 4 5; do sleep 1 & done; wait; echo DONE`,
    );
    assert.deepEqual([result.code, result.stdout], [0, 'DONE\n'], result.stderr);
  });

  const cases: readonly (readonly [what: string, limit: keyof typeof LIMITS, script: string])[] = [
    ['memory of one process', 'memory', hold(500)],
    ['memory of several processes', 'memory', `${[1, 2, 3, 4].map(() => hold(120)).join(' & ')}; wait`],
    [
      'memory of a process that left its group',
      'memory',
      `setsid bash -c "${hold(400).replaceAll('$', '\\$').replaceAll('"', '\\"')}" & disown; sleep 20`,
    ],
    ['processes', 'processes', 'for i in $(seq 80); do sleep 20 & done 2>/dev/null; wait; sleep 20'],
    ['processor time of many short processes', 'cpu_seconds', 'while :; do perl -e "for (1..3000000) {}"; done'],
    ['processor time of two processes', 'cpu_seconds', 'for i in 1 2; do perl -e "1 while 1" & done; wait'],
    ['one large file', 'disk', 'head -c 90000000 /dev/zero >file; sleep 20'],
    ['many files', 'disk', 'for i in $(seq 200); do head -c 1000000 /dev/zero >f$i; done; sleep 20'],
    [
      'temporary files',
      'disk',
      'mkdir $TMPDIR/d; for i in $(seq 90); do head -c 1000000 /dev/zero >$TMPDIR/d/.f$i; done; sleep 20',
    ],
  ];
  // The kernel does not limit the processes of root.
  test('end a fork bomb of a plain user', { skip: !USERS.includes('plain') }, async (t) => {
    const bomb = 'bomb() { bomb | bomb & }; bomb 2>/dev/null; sleep 20';
    assert.match((await runWith(t, { processes: 40 }, bomb, 'plain')).stderr, /^sandbox\.limits\.processes: /m);
  });

  for (const [what, limit, script] of cases) {
    test(`end a run that exceeds them: ${what}`, async (t) => {
      const limits = limit === 'cpu_seconds' ? { cpu_seconds: 2 } : { [limit]: LIMITS[limit] };
      const result = await runWith(t, limits, script);
      assert.equal(result.kind, 'exit', result.stderr);
      assert.notEqual(result.code, 0);
      assert.match(result.stderr.trimEnd().split('\n').at(-1) ?? '', new RegExp(`^sandbox\\.limits\\.${limit}: `));
    });
  }
});
