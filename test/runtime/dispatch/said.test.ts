/** The session turns that agents receive. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { AgentRequest } from '../../../runtime/dispatch/agent-runner.ts';
import { resetSession } from '../../../runtime/store/listed-rows.ts';
import { claimOf, dispatchBench } from '../../helpers/dispatch-bench.ts';
import { makeDispatch } from '../../helpers/dispatches.ts';
import { settle } from '../../helpers/fake-clock.ts';

const of = { profile: 'default', session: 's:k' };

function bench(history: object = { history: { turns: 2, chars: 1000 } }) {
  const runs: AgentRequest[] = [];
  const run = async (request: AgentRequest) => `answer ${runs.push(request)}`;
  const agent = { timeout_ms: 1000, max_attempts: 1, ...history, run };
  const { service, store, clock } = dispatchBench({ context: { agents: () => agent } });
  const send = async (id: string, key: string | null = 'k', session = of.session) => {
    await service.accept(makeDispatch(id, { session, session_key: key }), claimOf(id), null);
    await clock.run(1);
    await settle();
  };
  const told = () => runs.map(({ said = [] }) => said.map(({ prompt, answer }) => `${prompt}: ${answer}`));
  return { store, clock, send, told };
}

describe('a run of a session', () => {
  it("gets its latest turns, and no other session's", async () => {
    const { send, told } = bench();
    for (const id of ['a', 'b', 'c', 'd']) await send(id);
    await send('x', 'other', 's:other');
    await send('alone', null);
    assert.deepEqual(told(), [
      [],
      ['prompt of a: answer 1'],
      ['prompt of a: answer 1', 'prompt of b: answer 2'],
      ['prompt of b: answer 2', 'prompt of c: answer 3'],
      [],
      [],
    ]);
  });

  it('gets no turns from before a reset', async () => {
    const { send, told, store, clock } = bench();
    await send('a');
    assert.equal(await resetSession(store, of, clock.now(), 'cli:root'), true);
    assert.equal(await resetSession(store, { ...of, session: 's:none' }, clock.now(), 'cli:root'), false);
    await send('b');
    await send('c');
    assert.deepEqual(told(), [[], [], ['prompt of b: answer 2']]);
  });

  it('ends at its timeout when it is stuck, and the next run of its session begins', async () => {
    const begun: string[] = [];
    const run = ({ delivery_id, signal }: AgentRequest) =>
      new Promise<string>((_, reject) => {
        begun.push(delivery_id);
        signal.addEventListener('abort', () => reject(new Error('stopped')));
      });
    const { service, store, clock } = dispatchBench({ agent: run, timeout_ms: 1000 });
    for (const id of ['a', 'b'])
      await service.accept(makeDispatch(id, { session: of.session, session_key: 'k' }), claimOf(id), null);
    await clock.run(999);
    assert.deepEqual(begun, ['delivery-a']);
    await clock.run(1);
    assert.deepEqual(begun, ['delivery-a', 'delivery-b']);
    const found = store.look({ kind: 'find', id: 'a' });
    assert.match((found.kind === 'found' && found.dispatch.reason) || '', /\b1 s$/);
  });

  it('gets no turns if its agent stores its conversations itself', async () => {
    const { send, told } = bench({});
    await send('a');
    await send('b');
    assert.deepEqual(told(), [[], []]);
  });
});
