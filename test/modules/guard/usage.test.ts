import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { describe, it } from 'node:test';
import { openOfflineStore } from '../../../runtime/store/sqlite/open-store.ts';
import { storePath } from '../../../runtime/store/store-path.ts';
import type { RunUsage } from '../../../runtime/store/usage.ts';
import { runInProcess } from '../../helpers/cli.ts';
import { makeAccept, makeAdvance, makeDispatch, makeTake } from '../../helpers/dispatches.ts';
import { FakeClock } from '../../helpers/fake-clock.ts';
import { tempDir } from '../../helpers/temp-dir.ts';

const NOW = Date.UTC(2026, 0, 10, 12);
const HOUR = 3_600_000;

type Run = readonly [route: string | null, job: string | null, hoursAgo: number, used: Partial<RunUsage>];

const RUNS: readonly Run[] = [
  ['review', null, 1, { input_tokens: 1000, output_tokens: 10, cost: 0.5 }],
  ['review', null, 30, { input_tokens: 500, output_tokens: 5, cost: 0.25, agent: 'careful' }],
  ['alerts', null, 13, { input_tokens: 9000, output_tokens: null, cost: null }],
  [null, 'digest', 2, { cost: 2 }],
  ['review', null, 24 * 8, { input_tokens: 77, cost: 9 }],
];

async function home(t: TestContext, runs = RUNS): Promise<string> {
  const folder = tempDir(t);
  const store = await openOfflineStore(storePath(folder));
  for (const [at, [route, job, hours, used]] of runs.entries()) {
    const now = NOW - hours * HOUR;
    const dispatch = makeDispatch(`d${at}`, { route, job, accepted_at: now });
    const stored = await store.write(makeAccept(`d${at}`, { dispatch, now }));
    await store.write(makeTake(now));
    const usage = { agent: null, input_tokens: null, output_tokens: null, cost: null, ...used };
    const ref = stored.kind === 'stored' ? stored.ref : 0;
    assert.equal(await store.write(makeAdvance(ref, 'skipped', now, { reason: 'silent', usage })), true);
  }
  await store.close();
  return folder;
}

const run = (folder: string, ...argv: string[]) =>
  runInProcess(['usage', ...argv], { home: folder, context: { clock: new FakeClock(NOW) } });
const json = async (folder: string, ...argv: string[]): Promise<unknown> =>
  JSON.parse((await run(folder, ...argv, '--json')).stdout);

describe('hookwright usage', () => {
  it('sums the last week by route, highest cost first', async (t) => {
    assert.deepEqual(await json(await home(t)), [
      { route: 'job digest', profile: 'default', runs: 1, input_tokens: null, output_tokens: null, cost: 2 },
      { route: 'review', profile: 'default', runs: 2, input_tokens: 1500, output_tokens: 15, cost: 0.75 },
      { route: 'alerts', profile: 'default', runs: 1, input_tokens: 9000, output_tokens: null, cost: null },
    ]);
  });

  it('sums by agent and by job, as far back as requested', async (t) => {
    const folder = await home(t);
    const used = (await json(folder, '--by', 'agent', '--since', '30d')) as { agent: string; cost: number }[];
    assert.deepEqual(
      used.map(({ agent, cost }) => [agent, cost]),
      [
        ['default', 11.5],
        ['careful', 0.25],
      ],
    );
    assert.deepEqual(await json(folder, '--by', 'job'), [
      { job: 'digest', profile: 'default', runs: 1, input_tokens: null, output_tokens: null, cost: 2 },
    ]);
  });

  it("uses the days of the gateway's time zone", async (t) => {
    const folder = await home(t);
    const days = async (zone: string) => {
      writeFileSync(join(folder, 'config.yaml'), `gateway: { timezone: ${zone} }\n`);
      const rows = (await json(folder, '--by', 'day', '--since', '2d')) as { day: string; runs: number }[];
      return rows.map(({ day, runs }) => `${day} ${runs}`);
    };
    assert.deepEqual(await days('UTC'), ['2026-01-09 2', '2026-01-10 2']);
    assert.deepEqual(await days('Asia/Kathmandu'), ['2026-01-09 1', '2026-01-10 3']);
  });

  it('prints a table, with bars only on a terminal', async (t) => {
    const folder = await home(t);
    const plain = await run(folder);
    assert.match(plain.stdout, /\njob digest .*\nreview +default +2 +1500 +15 +0\.75\n/);
    assert.ok(!plain.stdout.includes('█'));
  });

  it('reports missing usage, and rejects invalid input', async (t) => {
    const none = await run(await home(t, []));
    assert.deepEqual([none.code, none.stdout], [0, '']);
    assert.notEqual(none.stderr, '');
    assert.equal((await run(await home(t, []), '--by', 'week')).code, 2);
  });
});
