/** Tests a service whose store has failed permanently: it reports that, and answers only with 503. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { it } from 'node:test';
import type { Worker } from 'node:worker_threads';
import { compileText } from '../../../main/compiler.ts';
import { createService } from '../../../main/runtime.ts';
import { until } from '../../helpers/gateway.ts';
import { recordLog } from '../../helpers/log.ts';
import { tempDir } from '../../helpers/temp-dir.ts';

const CONFIG =
  'platforms: { webhook: { enabled: true, secret: INSECURE_NO_AUTH, routes: { hello: { prompt: "{name}" } } } }';

it('ends with a failed event if a thread of its store ends, and a new service resumes its work', async (t) => {
  const home = tempDir(t);
  const { table } = await compileText(CONFIG, { home, env: {} });
  assert.ok(table !== null);
  const threads: Worker[] = [];
  const note = (thread: Worker): unknown => threads.push(thread);
  process.on('worker', note);
  const log = recordLog();
  let answer: (text: string) => void = () => {};
  const agent = (): Promise<string> => new Promise((resolve) => (answer = resolve));
  const service = await createService({ table, home, log, agent });
  process.off('worker', note);
  t.after(() => service.stop({ drainMs: 0 }));
  const post = (id: string) =>
    service.handle(
      new Request('http://127.0.0.1/webhooks/hello', { method: 'POST', body: '{}', headers: { 'x-request-id': id } }),
      { address: '127.0.0.1' },
    );
  assert.equal((await post('one')).status, 202);
  const failed: string[] = [];
  service.on('failed', ({ reason }) => failed.push(reason));
  await Promise.all(threads.map((thread) => Promise.all([once(thread, 'exit'), thread.terminate()])));
  await until(async () => failed.length > 0);
  const late: string[] = [];
  service.on('failed', ({ reason }) => late.push(reason));
  assert.deepEqual([failed, failed.length], [late, 1]);
  assert.equal((await post('two')).status, 503);
  assert.equal(log.lines.filter(({ fields }) => fields.reason === failed[0]).length, 1);
  answer('too late');
  await service.stop({ drainMs: 0 });

  const next = await createService({ table, home, log, agent: async () => 'done' });
  t.after(() => next.stop({ drainMs: 0 }));
  const states: string[] = [];
  next.on('finished', ({ state }) => states.push(state));
  next.start();
  await until(async () => states.length > 0);
  assert.deepEqual(states, ['done']);
});
