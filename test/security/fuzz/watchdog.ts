/**
 * Ends a process whose event loop is blocked, and prints the current case. It is a separate thread, because nothing else in the
 * process can run.
 */
import { Worker } from 'node:worker_threads';

/** Maximum size of a case that is printed in full, in bytes. */
const ROOM = 1_048_576;

/** Words of the shared memory: the number of cases started or ended, and the length of the current one's text. */
const [COUNT, LENGTH] = [0, 1];
const HEAD_BYTES = 8;

/** Runs as the thread: plain JavaScript, so that it needs no loader. */
const THREAD = `
const { workerData: { memory, ms } } = require('node:worker_threads');
const { writeSync } = require('node:fs');
const words = new Int32Array(memory, 0, 2);
let seen = -1, since = Date.now();
setInterval(() => {
  const count = Atomics.load(words, ${COUNT});
  if (count !== seen || count % 2 === 0) { seen = count; since = Date.now(); return; }
  if (Date.now() - since < ms) return;
  const text = Buffer.from(memory, ${HEAD_BYTES}, Atomics.load(words, ${LENGTH})).toString('utf8');
  writeSync(2, 'fuzz: the event loop has not turned for ' + ms / 1000 + ' s on\\n' + text + '\\n');
  process.kill(process.pid, 'SIGKILL');
}, 250);
`;

export class Watchdog {
  private readonly memory = new SharedArrayBuffer(HEAD_BYTES + ROOM);
  private readonly words = new Int32Array(this.memory, 0, 2);
  private readonly thread: Worker;

  /** @param ms how long one case may take */
  constructor(ms: number) {
    // Options that the process has for its own code must not apply to the thread.
    this.thread = new Worker(THREAD, { eval: true, execArgv: [], workerData: { memory: this.memory, ms } });
    this.thread.unref();
  }

  /** Call at the start of a case; `text` names it. */
  begin(text: string): void {
    const bytes = Buffer.from(text).subarray(0, ROOM);
    Buffer.from(this.memory, HEAD_BYTES).set(bytes);
    Atomics.store(this.words, LENGTH, bytes.length);
    Atomics.add(this.words, COUNT, 1);
  }

  end(): void {
    Atomics.add(this.words, COUNT, 1);
  }

  async close(): Promise<void> {
    await this.thread.terminate();
  }
}
