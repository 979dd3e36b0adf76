/** A gateway whose database fails, in each way in turn: its responses, the stored events, and when it recovers. */
import assert from 'node:assert/strict';
import { chownSync } from 'node:fs';
import { Agent } from 'node:http';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { atEnd } from '../../../helpers/at-end.ts';
import { serverOwner, skipWithoutCluster } from '../../../helpers/postgres/binaries.ts';
import { startCluster } from '../../../helpers/postgres/cluster.ts';
import { runSql } from '../../../helpers/postgres/database.ts';
import { tempDir } from '../../../helpers/temp-dir.ts';
import { tinyDisk } from '../../../helpers/tiny-disk.ts';
import type { FaultCase, FaultParts } from './fault-cases.ts';
import { FAULT_CASES } from './fault-cases.ts';
import { StormGateway } from './gateways.ts';
import { settles, storedIds } from './inspect.ts';
import type { Posted } from './senders.ts';
import { postEvent } from './senders.ts';
import { writeTable } from './table.ts';
import { World } from './world.ts';

/** Duration of each fault, and the time in which a gateway must accept events again, even on a busy machine, in ms. */
const FAULT_MS = 1000;
const RESUME_MS = 120_000;
/** A response may wait until the outcome of a commit is known. */
const ANSWER_MS = 300_000;
const EVENTS = 16;

async function start(t: TestContext): Promise<FaultParts & { readonly gateway: StormGateway }> {
  const cluster = await startCluster(t, {
    settings: { max_connections: '20', superuser_reserved_connections: '0', autovacuum: 'off' },
  });
  const disk = tinyDisk(t, '64m');
  const owner = serverOwner();
  if (disk !== null && owner !== null) chownSync(disk, owner.uid, owner.gid);
  if (disk !== null) await runSql(cluster.url(), `CREATE TABLESPACE tiny LOCATION '${disk}'`);
  await runSql(cluster.url(), `CREATE DATABASE faults ${disk === null ? '' : 'TABLESPACE tiny'}`);
  const folder = tempDir(t);
  const world = await World.start(t, () => 0.5);
  const options = { table: writeTable(folder, world.url), home: join(folder, 'home'), startedAt: Date.now() };
  const url = cluster.url('faults');
  const gateway = await StormGateway.create(t, 'one', { ...options, database: url });
  await gateway.start();
  // Before the disk is unmounted.
  atEnd(t, () => cluster.stop('immediate'));
  assert.ok(gateway.proxy !== null);
  return { cluster, url, proxy: gateway.proxy, disk, gateway };
}

it('a gateway whose database fails', { skip: skipWithoutCluster() }, async (t) => {
  const parts = await start(t);
  const { gateway, url, disk } = parts;
  const agent = new Agent({ keepAlive: true });
  atEnd(t, () => agent.destroy());
  const post = (id: string): Promise<Posted> => {
    const event = { id, route: 'quick', entity: '' } as const;
    return postEvent(agent, gateway.url, event, ANSWER_MS);
  };

  /** Sends it until it is accepted, and fails if it is a duplicate. */
  const taken = async (id: string): Promise<void> => {
    for (let status = 0; status !== 202; await sleep(50)) {
      ({ status } = await post(id));
      assert.ok(status === 202 || status === 503, `${id}: ${status}`);
    }
  };

  async function survive({ name, refuses, begin }: FaultCase): Promise<void> {
    const prefix = name.replaceAll(/\W+/g, '-');
    await taken(`${prefix}-before`);
    const end = await begin(parts);
    const ids = Array.from({ length: EVENTS }, (_, n) => `${prefix}-${n}`);
    const answers: Promise<Posted>[] = [];
    for (const id of ids) {
      answers.push(post(id));
      await sleep(FAULT_MS / EVENTS);
    }
    await end();
    const ended = performance.now();
    await taken(`${prefix}-after`);
    const resumed = performance.now() - ended;
    assert.ok(resumed < RESUME_MS, `took events again after ${resumed.toFixed(0)} ms`);
    const statuses = new Map<string, number>();
    for (const [n, { status, retryAfter, body }] of (await Promise.all(answers)).entries()) {
      assert.ok(status === 202 || (status === 503 && Number(retryAfter) > 0), `${status} ${retryAfter} ${body}`);
      statuses.set(ids[n] ?? '', status);
    }
    const stored = await storedIds(url, ids);
    for (const [id, status] of statuses) assert.equal(stored.get(id) ?? 0, status === 202 ? 1 : 0, `${id}: ${status}`);
    const refused = ids.filter((id) => statuses.get(id) === 503);
    if (refuses !== null) assert.equal(refused.length > 0, refuses, `${refused.length} refused`);
    for (const id of refused) await taken(id);
    assert.ok(await settles(url, ANSWER_MS), 'all that was taken is done');
  }

  for (const fault of FAULT_CASES) {
    const skip = fault.needsDisk === true && disk === null ? 'NOT TESTED: no disk can be mounted here' : false;
    await t.test(`${fault.name}: rejects with Retry-After, stores acknowledged events, and recovers`, { skip }, () =>
      survive(fault),
    );
  }
});
