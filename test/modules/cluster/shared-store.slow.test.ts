/** Several gateways on one PostgreSQL database: changes on one of them reach the others. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { TestContext } from 'node:test';
import { describe, it } from 'node:test';
import type { OperatedService } from '../../../runtime/service/options.ts';
import type { RouteTable } from '../../../schemas/generated/types.ts';
import { atEnd } from '../../helpers/at-end.ts';
import { makeAccept, makeDispatch } from '../../helpers/dispatches.ts';
import { until } from '../../helpers/gateway.ts';
import { makeFire, makeJob, makeTick } from '../../helpers/jobs.ts';
import { nodeArgv } from '../../helpers/node-argv.ts';
import { createService } from '../../helpers/operated-service.ts';
import { skipWithoutPostgres } from '../../helpers/postgres/binaries.ts';
import { runSql, testDatabase } from '../../helpers/postgres/database.ts';
import type { NodeProcess } from '../../helpers/postgres/run-node.ts';
import { routeTable } from '../../helpers/route-table.ts';
import { tempDir } from '../../helpers/temp-dir.ts';

const RUN_NODE = new URL('../../helpers/postgres/run-node.js', import.meta.url);
const SCHEMA = 'hookwright';
/** Error of a wrong clock, in ms. */
const TEN_MINUTES = 600_000;

function tableFor(url: string, listen = true): RouteTable {
  const reference = { kind: 'literal', value: url, scope: 'default' } as const;
  const store = { kind: 'postgres', url: reference, listen, schema: SCHEMA, key: null } as const;
  return routeTable({ routes: { alerts: {} }, gateway: { store } }).table;
}

async function startNode(t: TestContext, url: string, listen = true): Promise<OperatedService> {
  const service = await createService({ table: tableFor(url, listen), home: tempDir(t) });
  atEnd(t, () => service.stop({ drainMs: 0 }));
  await service.listen();
  return service;
}

/** A gateway in a separate process, whose clock is `aheadMs` ahead. */
async function spawnNode(t: TestContext, url: string, aheadMs: number) {
  const options: NodeProcess = { home: tempDir(t), table: tableFor(url), aheadMs };
  const [node = '', ...argv] = nodeArgv(RUN_NODE);
  const child = spawn(node, [...argv, JSON.stringify(options)], { stdio: ['ignore', 'pipe', 'inherit'] });
  atEnd(t, () => child.kill('SIGKILL'));
  const lines: string[] = [];
  createInterface({ input: child.stdout }).on('line', (line) => lines.push(line));
  await until(() => Promise.resolve(lines.length > 0));
  return { lines, kill: () => child.kill('SIGKILL') };
}

describe('gateways that share a store', { skip: skipWithoutPostgres() }, () => {
  for (const listen of [true, false]) {
    it(`see each other's changes of jobs, ${listen ? 'notified' : 'by polling'}`, async (t) => {
      const url = await testDatabase(t);
      const [one, two] = [await startNode(t, url, listen), await startNode(t, url, listen)];
      const names = (): readonly string[] => two.jobs.map(({ name }) => name);
      await one.store.write({ kind: 'put_job', job: makeJob('j', { name: 'first' }), expect: 'new' });
      await until(async () => names().includes('first'));
      await one.store.write({ kind: 'put_job', job: makeJob('j', { name: 'other' }), expect: 'old' });
      await until(async () => names().includes('other'));
      await one.store.write({ kind: 'remove_job', id: 'j' });
      await until(async () => names().length === 0);
    });
  }

  it('fire each instant once, and the others fire it when one has ended', { timeout: 300_000 }, async (t) => {
    const url = await testDatabase(t);
    const doomed = await spawnNode(t, url, 0);
    const left = await startNode(t, url);
    const fires = async (id: string): Promise<readonly number[]> => {
      // Both have missed the instants before its creation, and make up for the latest one; no other comes in between.
      const job = makeJob(id, { schedule: '0 0 1 1 *', misfire: 'once' });
      await left.store.write({ kind: 'put_job', job, expect: 'new' });
      await until(async () => (await left.store.read({ kind: 'job_ticks', job: id, limit: 10 })).length > 0);
      const ticks = await left.store.read({ kind: 'job_ticks', job: id, limit: 10 });
      assert.deepEqual([...new Set(ticks.map(({ outcome }) => outcome))], ['fired']);
      const runs = await left.store.read({ kind: 'list', filter: { job: id, limit: 10 } });
      assert.equal(runs.length, ticks.length);
      return ticks.map(({ due_at }) => due_at);
    };
    for (const due_at of await fires('both')) {
      assert.equal((await left.store.write(makeTick('both', due_at, { now: Date.now() }))).kind, 'claimed');
    }
    doomed.kill();
    await fires('one');
  });

  for (const aheadMs of [TEN_MINUTES, -TEN_MINUTES]) {
    const name = aheadMs > 0 ? 'ahead' : 'behind';
    it(`use the database's clock: a gateway whose own is ten minutes ${name}`, { timeout: 300_000 }, async (t) => {
      const url = await testDatabase(t);
      const right = await startNode(t, url);
      const now = Date.now();
      // Not due for an hour by the clock that counts: neither taken early nor postponed.
      await right.store.write(
        makeAccept('later', {
          dispatch: makeDispatch('later', { accepted_at: now }),
          ...{
            claim: null,
            now,
            work: { kind: 'deliveries', answer: 'text', open: [{ index: 0, target: 'log', due_at: now + 300_000 }] },
          },
        }),
      );
      const wrong = await spawnNode(t, url, aheadMs);
      await right.store.write(
        makeAccept('now', { dispatch: makeDispatch('now', { accepted_at: now, deliveries: [] }), claim: null, now }),
      );
      await until(async () =>
        (await right.store.read({ kind: 'list', filter: { limit: 9 } })).some(
          ({ finished_at }) => finished_at !== null,
        ),
      );
      const [row] = await runSql<{ due: number; set: number }>(
        url,
        `SELECT (due_at - ${now})::int AS due, (set_at - ${now})::int AS set FROM ${SCHEMA}.delivery`,
      );
      // The error of a clock is measured over the connection, so delays of a busy machine are subtracted from ten
      // minutes.
      const off = { due: Math.abs((row?.due ?? NaN) - 300_000), set: Math.abs(row?.set ?? NaN) };
      assert.ok(off.due < 60_000 && off.set < 60_000, JSON.stringify(row));
      assert.deepEqual(
        wrong.lines.filter((line) => line.endsWith('later')),
        [],
      );
    });
  }

  it("store changes of a command with a wrong clock by the database's", async (t) => {
    const url = await testDatabase(t);
    const { openClientStore } = await import('../../../modules/cluster/runtime/postgres/client-store.ts');
    const { systemClock } = await import('../../../runtime/platform/clock.ts');
    const clock = { ...systemClock, now: () => Date.now() + TEN_MINUTES };
    const store = await openClientStore({ url, schema: SCHEMA, clock, create: true });
    assert.ok(store !== null);
    atEnd(t, () => store.close());
    const dispatch = makeDispatch('run', { mode: 'job', job: 'j', accepted_at: clock.now() });
    assert.equal((await store.write(makeFire('j', 'run', { now: clock.now(), dispatch }))).kind, 'stored');
    const [row] = await runSql<{ due: number }>(url, `SELECT due_at AS due FROM ${SCHEMA}.work`);
    assert.ok(Math.abs(Number(row?.due) - Date.now()) < 60_000, `${row?.due}`);
  });
});
