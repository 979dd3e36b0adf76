/** Starts threads, from the build or from source, and makes the exit of the process wait for their current calls. */

import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';

/**
 * Starts `entry` (with its name in the build) with `workerData`. From source the file is TypeScript, and the thread must
 * register a loader first, because it does not inherit the loader of the process.
 */
export function startEntry(entry: URL, workerData: unknown): Worker {
  if (import.meta.url.endsWith('.js')) return new Worker(entry, { workerData });
  const source = entry.href.replace(/\.js$/, '.ts');
  const loader = import.meta.resolve('tsx/esm/api');
  const bootstrap = `import(${JSON.stringify(loader)}).then((tsx) => (tsx.register(), import(${JSON.stringify(source)})))`;
  return new Worker(bootstrap, { eval: true, workerData });
}

/**
 * Makes the exit of the process wait for the current calls of its threads. A thread that is stopped within a call of a native
 * addon aborts the process, because the addon throws where nothing can be thrown any more.
 */

/** [the thread is busy, the process exits]; shared with the thread, and the first message that it gets. */
export type ExitGate = Int32Array<SharedArrayBuffer>;

/** Maximum wait of an exit, in ms. */
const EXIT_MS = 10_000;

/** One list for the process, which exits once. */
const gates = new Set<ExitGate>();
const lasts = new Set<() => void>();

/**
 * Calls `last` at the exit of the process, when no thread is in a call and no new call can start. Returns a function that
 * cancels it.
 */
export function beforeExit(last: () => void): () => void {
  lasts.add(last);
  return () => void lasts.delete(last);
}

/** Creates the gate of a new thread, which counts as busy until it has loaded its modules. */
export function openGate(): ExitGate {
  const gate: ExitGate = new Int32Array(new SharedArrayBuffer(8));
  gate[0] = 1;
  if (gates.size === 0) process.on('exit', waitForThreads);
  gates.add(gate);
  return gate;
}

/** Call when the thread has ended. */
export function dropGate(gate: ExitGate): void {
  gates.delete(gate);
  if (gates.size === 0) process.off('exit', waitForThreads);
}

function waitForThreads(): void {
  for (const gate of gates) Atomics.store(gate, 1, 1);
  const waits = [...gates].map((gate) => Atomics.wait(gate, 0, 1, EXIT_MS));
  if (!waits.includes('timed-out')) for (const last of lasts) last();
}

/** In the thread: enters before a call. Returns false if the process is exiting, so that the call must not be made. */
export function enter(gate: ExitGate): boolean {
  Atomics.store(gate, 0, 1);
  const isOpen = Atomics.load(gate, 1) === 0;
  if (!isOpen) leave(gate);
  return isOpen;
}

export function leave(gate: ExitGate): void {
  Atomics.store(gate, 0, 0);
  Atomics.notify(gate, 0);
}

const IS_GLOBAL = fileURLToPath(import.meta.url).includes('/lib/node_modules/');

/** @param what name of a package, perhaps with its version */
export const npmInstall = (what: string): string => `npm install ${IS_GLOBAL ? '--global ' : ''}${what}`;
