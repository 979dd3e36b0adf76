/** Runs that a newer event of their session replaces. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { AgentRequest } from '../../../runtime/dispatch/agent-runner.ts';
import type { Dispatch } from '../../../schemas/generated/types.ts';
import type { BenchOptions } from '../../helpers/dispatch-bench.ts';
import { claimOf, dispatchBench } from '../../helpers/dispatch-bench.ts';
import { makeDispatch } from '../../helpers/dispatches.ts';
import { settle } from '../../helpers/fake-clock.ts';

/** An agent that answers when the test says so, or when it is aborted. */
function bench(on_newer: NonNullable<Dispatch['on_newer']>, options: BenchOptions = {}) {
  const begun = new Map<string, { answer: (text: string) => void; aborted: unknown }>();
  const counted: number[] = [];
  const agent = ({ delivery_id, signal }: AgentRequest) =>
    new Promise<string>((resolve, reject) => {
      const run = { answer: resolve, aborted: undefined as unknown };
      begun.set(delivery_id, run);
      signal.addEventListener('abort', () => {
        run.aborted = signal.reason;
        reject(new Error('stopped'));
      });
    });
  const observer = { superseded: (_: unknown, count: number) => void counted.push(count) };
  const made = dispatchBench({ agent, ...options, context: { observer, ...options.context } });
  const send = async (id: string) => {
    const of = { delivery_id: id, session: 's:k', session_key: 'k', on_newer };
    assert.equal((await made.service.accept(makeDispatch(id, of), claimOf(id), null)).kind, 'accepted');
    await made.clock.run(1);
    await settle();
  };
  const answer = async (id: string, text = id) => {
    begun.get(id)?.answer(text);
    await made.clock.run(1);
    await settle();
  };
  const sent = () => made.deliveries.map(({ text }) => text);
  return { ...made, begun, counted, send, answer, sent };
}

describe('a newer event of a session', () => {
  it('with `latest` lets the run in progress answer, and skips those that wait', async () => {
    const { send, answer, sent, begun, counted } = bench('latest');
    for (const id of ['a', 'b', 'c']) await send(id);
    assert.deepEqual([[...begun.keys()], counted], [['a'], [1]]);
    await answer('a');
    assert.deepEqual([[...begun.keys()], begun.get('a')?.aborted], [['a', 'c'], undefined]);
    await answer('c');
    assert.deepEqual(sent(), ['a', 'c']);
  });

  it('with `cancel` ends the run in progress, and drops its answer', async () => {
    const { send, answer, sent, begun, lines } = bench('cancel');
    await send('a');
    await send('b');
    assert.equal(begun.get('a')?.aborted, 'superseded');
    await answer('b');
    assert.deepEqual(sent(), ['b']);
    assert.deepEqual(
      lines.filter(({ level }) => level === 'warn' || level === 'error'),
      [],
    );
  });

  it('drops an answer that is in the same turn as the newer event, also one that would not leave the process', async () => {
    const deliverer = { isImmediate: () => true, isEnabled: () => true, refusal: () => null };
    const texts: string[] = [];
    const deliver = async ({ text }: { readonly text: string }) => {
      texts.push(text);
      return { kind: 'ok', message_id: null, sent: 1 } as const;
    };
    const { send, answer, begun } = bench('cancel', { context: { deliverer: { ...deliverer, deliver } } });
    await send('a');
    const sending = send('b');
    begun.get('a')?.answer('late');
    await sending;
    await answer('b');
    assert.deepEqual(texts, ['b']);
  });

  it('makes room in the queue for further events', async () => {
    const { send } = bench('latest', {
      context: { limits: () => ({ max_concurrent_runs: 1, max_queued_runs: 2 }) },
    });
    for (const id of ['a', 'b', 'c', 'd', 'e', 'f']) await send(id);
  });

  it('does not retry a failed run once a newer event waits', async () => {
    const { send, begun, clock, store } = bench('latest', { max_attempts: 3 });
    const failing = { timeout: 900_000 };
    await send('a');
    await send('b');
    await clock.run(failing.timeout + 1);
    await settle();
    assert.deepEqual([...begun.keys()], ['a', 'b']);
    const found = await store.read({ kind: 'find', id: 'a' });
    assert.deepEqual(found.kind === 'found' && [found.dispatch.state, found.dispatch.reason], [
      'skipped',
      'superseded',
    ]);
  });
});
