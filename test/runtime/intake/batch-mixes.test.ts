/** Any mix of new, known, ignored and unnamed items, in any division into requests, against an oracle of a few lines. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Store } from '../../../runtime/store/contract.ts';
import { startBatchService } from '../../helpers/batch-service.ts';
import { seededRandom } from '../../helpers/seeded-random.ts';

const REQUESTS = 60;

interface Item {
  readonly id?: string;
  readonly type: string;
}

test(`answers ${REQUESTS} mixed requests as an oracle does, and stores what it answers`, async (t) => {
  const { post, service } = await startBatchService(t, { route: { events: ['made'], rate_limit: 1000 } });
  const random = seededRandom(43);
  const below = (count: number): number => Math.floor(random() * count);
  /** The oracle: ids that were accepted. */
  const known = new Set<string>();
  const sent: { readonly items: readonly Item[]; readonly name: string }[] = [];
  for (let n = 0; n < REQUESTS; n++) {
    const repeated = random() < 0.2 ? sent[below(sent.length)] : undefined;
    const items = Array.from({ length: below(12) }, (): Item => {
      const type = random() < 0.3 ? 'other' : 'made';
      return random() < 0.25 ? { type } : { id: `i${below(40)}`, type };
    });
    const { items: events, name } = repeated ?? { items, name: `b${n}` };
    sent.push({ items: events, name });
    const expected = events.map(({ id = null, type }, index) => {
      const delivery_id = id ?? `${name}#${index}`;
      if (type === 'other') return { event: type, delivery_id, status: 'ignored', reason: 'event' };
      const status = known.has(delivery_id) ? 'duplicate' : 'accepted';
      known.add(delivery_id);
      return { event: type, delivery_id, status };
    });
    const has = (status: string): boolean => expected.some((one) => one.status === status);
    const status = has('accepted') ? 'accepted' : has('ignored') || events.length === 0 ? 'ignored' : 'duplicate';
    const answer = await post({ events }, { 'x-batch': name });
    assert.equal(answer.status, status === 'accepted' ? 202 : 200);
    assert.equal(answer.body.status, status);
    if (events.length > 0) assert.deepEqual(answer.body.events, expected);
  }
  const { store } = service as unknown as { readonly store: Store };
  const stored = (await store.read({ kind: 'list', filter: { limit: 5000 } })).map(({ delivery_id }) => delivery_id);
  assert.deepEqual(stored.toSorted(), [...known].toSorted());
});
