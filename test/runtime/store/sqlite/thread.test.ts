import { equal, rejects } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Worker } from 'node:worker_threads';
import { ThreadClient, ThreadEnded } from '../../../../runtime/store/sqlite/thread.ts';

const ECHO = `
const { parentPort } = require('node:worker_threads');
parentPort.on('message', (request) => {
  if (request instanceof Int32Array) return Atomics.store(request, 0, 0);
  request === 'die' ? process.exit(1) : parentPort.postMessage({ answer: request });
});
`;

function countedClient(): { client: ThreadClient<string>; started: () => number } {
  let started = 0;
  const start = (): Worker => {
    started++;
    return new Worker(ECHO, { eval: true });
  };
  return { client: new ThreadClient(start, () => {}), started: () => started };
}

describe('a thread of the store', () => {
  it('is started by the first request, and restarted when it has died', async () => {
    const { client, started } = countedClient();
    await rejects(client.ask('die'), ThreadEnded);
    equal(await client.ask('again'), 'again');
    equal(started(), 2);
    await client.end('close');
  });

  it('is not started by a request during or after its end, because the process could not exit', async () => {
    const { client, started } = countedClient();
    await client.ask('first');
    const ended = client.end('close');
    await rejects(client.ask('late'), ThreadEnded);
    await ended;
    await rejects(client.ask('later'), ThreadEnded);
    await client.end('close');
    equal(started(), 1);
  });
});
