/** Batches: each item of a request is an event of its own, one commit stores all, and one response answers for all. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { startBatchService, statusesOf } from '../../helpers/batch-service.ts';
import { until } from '../../helpers/gateway.ts';

const item = (id: string, type = 'made', more: object = {}) => ({ id, type, ...more });

describe('a batch', () => {
  it('is accepted item by item, with the id of each', async (t) => {
    const { post, prompts } = await startBatchService(t, {
      route: { events: ['made'], prompt: '{type} {id} of {batch.name}' },
    });
    const answer = await post({ name: 'n', events: [item('1', 'other'), item('2'), item('3')] });
    assert.equal(answer.status, 202);
    assert.deepEqual(answer.body, {
      status: 'accepted',
      route: 'feed',
      events: [
        { event: 'other', delivery_id: '1', status: 'ignored', reason: 'event' },
        { event: 'made', delivery_id: '2', status: 'accepted' },
        { event: 'made', delivery_id: '3', status: 'accepted' },
      ],
    });
    await until(async () => prompts.length === 2);
    assert.deepEqual(prompts.toSorted(), ['made 2 of n', 'made 3 of n']);
  });
});
