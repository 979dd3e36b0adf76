/** Tests internal errors: only the current request fails, and the sender learns nothing. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { lowerFilters } from '../../../compiler/lower/filter.ts';
import { StoreInDoubt } from '../../../runtime/store/contract.ts';
import { serve } from '../../helpers/serve.ts';

test('a stage that throws causes a 500 without a reason, and the server continues', async (t) => {
  const { post, dispatcher, log, gateway } = await serve(t, { routes: { ci: {} } });
  dispatcher.accept = async () => {
    throw new Error('disk on fire at /secret/path');
  };
  const { status, body } = await post('/webhooks/ci', {});
  assert.equal(status, 500);
  assert.deepEqual(body, { status: 'error', error: 'Internal error', code: 'internal_error' });
  const [line] = log.lines.filter(({ level }) => level === 'error');
  assert.match(String(line?.fields.err), /disk on fire/);
  assert.equal(log.lines.filter(({ message }) => message === 'internal_error').length, 1);
  assert.deepEqual(await gateway.stop(1), { drained: true, abandoned: 0 });
});

test('an event that may be stored gets 500, because 503 would mean that it is not', async (t) => {
  const { post, dispatcher, log } = await serve(t, { routes: { ci: {} } });
  dispatcher.accept = async () => {
    throw new StoreInDoubt('the disk has failed within the commit');
  };
  assert.equal((await post('/webhooks/ci', {})).status, 500);
  const errors = log.lines.filter(({ level }) => level === 'error');
  assert.deepEqual(
    errors.map(({ message, fields }) => [message, fields.reason]),
    [['internal_error', 'commit_in_doubt']],
  );
});

test('a stage that throws synchronously causes a 500 too', async (t) => {
  const { post, dispatcher } = await serve(t, { routes: { ci: {} } });
  dispatcher.isKnownDone = () => {
    throw new Error('no store');
  };
  assert.equal((await post('/webhooks/ci', {}, { 'x-request-id': 'a' })).status, 500);
  assert.equal((await post('/webhooks/ci', {})).status, 202);
});

test('a route that cannot be linked responds 500; the others work', async (t) => {
  const filters = lowerFilters({ field: 'a', regex: 'x' } as never).plan;
  assert(filters?.kind === 'leaf');
  const { post } = await serve(t, { routes: { bad: { filters: { ...filters, value: '(' } }, good: {} } });
  assert.equal((await post('/webhooks/bad', {})).status, 500);
  assert.equal((await post('/webhooks/good', {})).status, 202);
});

test('a response that cannot be written closes only its connection', async (t) => {
  const { post, dispatcher, log } = await serve(t, { routes: { ci: {} } });
  dispatcher.refusal = { kind: 'overloaded', reason: 'queue_full', retry_after_seconds: '1\r\nX: y' as never };
  await assert.rejects(post('/webhooks/ci', {}));
  assert(log.lines.some(({ level, fields }) => level === 'error' && fields.outcome === 'overloaded'));
  dispatcher.refusal = null;
  assert.equal((await post('/webhooks/ci', {})).status, 202);
});
