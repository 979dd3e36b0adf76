/** Kills a gateway that gets batches: of each batch all new events are stored, or none, and none is lost or doubled. */
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { atEnd } from '../helpers/at-end.ts';
import { startGatewayProcess } from '../helpers/gateway-process.ts';
import { openOfflineStore } from '../helpers/rescued-store.ts';
import { seededRandom } from '../helpers/seeded-random.ts';
import { tempDir } from '../helpers/temp-dir.ts';

const KILLS = process.env.HOOKWRIGHT_LONG_TESTS === '1' ? 100 : 6;
const TOKEN = 'a-token-for-batches-that-are-killed';
/** Batches in each life of the gateway. */
const BATCHES = 8;
/** Longest time from the first batch to the kill, in ms. */
const LIFE_MS = 1000;

const CONFIG = `sources:
  feed: { verify: token, signature: { header: X-Token }, each: "events[]", event: { json: type }, delivery: { json: id } }
platforms:
  webhook:
    enabled: true
    port: 0
    secret: ${TOKEN}
    rate_limit: 100000
    routes: { feed: { source: feed, events: [made], prompt: "{id}" } }
agent:
  command: [${process.execPath}, -e, "console.log('[SILENT]')"]
gateway: { max_concurrent_runs: 1, max_queued_runs: 1000000 }
`;

interface Sent {
  readonly fresh: readonly string[];
  readonly body: string;
}

test(`no batch is stored in part, lost or doubled over ${KILLS} kills of the gateway`, async (t) => {
  const home = join(tempDir(t), 'home');
  mkdirSync(home);
  writeFileSync(join(home, 'config.yaml'), CONFIG, { mode: 0o600 });
  const random = seededRandom(20_261_128);
  const sent: Sent[] = [];
  const acknowledged = new Set<Sent>();
  /** New events, events of earlier batches, and events that the route ignores, in any order. */
  const makeBatch = (): Sent => {
    const number = sent.length;
    const fresh = Array.from({ length: 1 + Math.floor(random() * 300) }, (_, n) => `b${number}-${n}`);
    const old = [...acknowledged].slice(-3).flatMap((one) => one.fresh.filter(() => random() < 0.2));
    const ignored = fresh.filter(() => random() < 0.2).map((id) => ({ id: `other-${id}`, type: 'other' }));
    const events = [...[...fresh, ...old].map((id) => ({ id, type: 'made' })), ...ignored];
    const body = JSON.stringify({ events: events.toSorted(() => random() - 0.5) });
    const batch = { fresh, body };
    sent.push(batch);
    return batch;
  };
  const post = async (url: string, batch: Sent): Promise<void> => {
    const headers = { 'content-type': 'application/json', 'x-token': TOKEN };
    const answer = await fetch(`${url}/webhooks/feed`, { method: 'POST', headers, body: batch.body }).catch(() => null);
    if (answer?.ok === true) acknowledged.add(batch);
  };
  /** Delivery ids in the store, with the number of their dispatches. */
  const stored = async (): Promise<ReadonlyMap<string, number>> => {
    const store = await openOfflineStore(join(home, 'state.db'));
    const counts = new Map<string, number>();
    for (const { delivery_id } of await store.read({ kind: 'list', filter: { limit: 1_000_000 } }))
      counts.set(delivery_id, (counts.get(delivery_id) ?? 0) + 1);
    await store.close();
    return counts;
  };
  let cut = 0;
  for (let life = 0; life <= KILLS; life++) {
    const gateway = await startGatewayProcess({ home });
    atEnd(t, gateway.kill);
    const retries = sent.filter((batch) => !acknowledged.has(batch));
    const batches = [...retries, ...(life === KILLS ? [] : Array.from({ length: BATCHES }, makeBatch))];
    if (life === KILLS) {
      for (const batch of batches) while (!acknowledged.has(batch)) await post(gateway.url, batch);
      await gateway.kill();
    } else {
      const posted = Promise.all(batches.map((batch) => post(gateway.url, batch)));
      await sleep(random() * LIFE_MS);
      await gateway.kill();
      await posted;
    }
    const counts = await stored();
    for (const batch of sent) {
      const found = batch.fresh.filter((id) => counts.has(id)).length;
      assert.ok(found === 0 || found === batch.fresh.length, `${found} of ${batch.fresh.length} events are stored`);
      assert.ok(found > 0 || !acknowledged.has(batch), 'an acknowledged batch is lost');
      if (found > 0 && !acknowledged.has(batch)) cut++;
    }
  }
  const counts = await stored();
  const expected = new Set(sent.flatMap(({ fresh }) => fresh));
  t.diagnostic(
    `${KILLS} kills, ${sent.length} batches, ${expected.size} events, ${cut} times stored without an answer`,
  );
  assert.equal(acknowledged.size, sent.length);
  assert.deepEqual(new Set(counts.keys()), expected);
  assert.ok([...counts.values()].every((count) => count === 1));
});
