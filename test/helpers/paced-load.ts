/** A thread that sends requests by the clock, independently of responses; started from source or built code. */
import { Agent, request } from 'node:http';
import { parentPort, workerData } from 'node:worker_threads';
import { startEntry } from '../../runtime/platform/process/threads.ts';

export interface PacedLoad {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly perSecond: number;
  readonly seconds: number;
}

/** Latency counts from the moment at which the request should have been sent. */
export interface PacedAnswer {
  readonly status: number;
  readonly ms: number;
}

/** Every response, in the order of sending. A connection that fails has status 0. */
export function sendPaced(load: PacedLoad): Promise<readonly PacedAnswer[]> {
  const thread = startEntry(new URL('./paced-load.js', import.meta.url), load);
  return new Promise((resolve, reject) => {
    thread.on('message', (answers: readonly PacedAnswer[]) => {
      resolve(answers);
      void thread.terminate();
    });
    thread.on('error', reject);
  });
}

async function sendAll({ url, headers, body, perSecond, seconds }: PacedLoad): Promise<readonly PacedAnswer[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: 2000 });
  const begun = performance.now();
  const sent: Promise<PacedAnswer>[] = [];
  const send = (due: number): Promise<PacedAnswer> =>
    new Promise((resolve) => {
      const end = (status: number): void => resolve({ status, ms: performance.now() - due });
      const outgoing = request(url, { method: 'POST', agent, headers }, (response) => {
        response.resume().on('end', () => end(response.statusCode ?? 0));
      });
      outgoing.on('error', () => end(0));
      outgoing.end(body);
    });
  for (let elapsed = 0; elapsed < seconds * 1000; elapsed = performance.now() - begun) {
    while (sent.length < (elapsed / 1000) * perSecond) sent.push(send(begun + (sent.length * 1000) / perSecond));
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  const answers = await Promise.all(sent);
  agent.destroy();
  return answers;
}

if (parentPort !== null && workerData?.perSecond !== undefined) {
  parentPort.postMessage(await sendAll(workerData as PacedLoad));
}
