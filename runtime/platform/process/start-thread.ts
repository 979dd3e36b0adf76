/** Starts a thread, from the build or from source. */
import { Worker } from 'node:worker_threads';

/**
 * Starts `entry` (with its name in the build) with `workerData`. From source the file is TypeScript, and the thread must
 * register a loader first, because it does not inherit that of the process.
 */
export function startEntry(entry: URL, workerData: unknown): Worker {
  if (import.meta.url.endsWith('.js')) return new Worker(entry, { workerData });
  const source = entry.href.replace(/\.js$/, '.ts');
  const loader = import.meta.resolve('tsx/esm/api');
  const bootstrap = `import(${JSON.stringify(loader)}).then((tsx) => (tsx.register(), import(${JSON.stringify(source)})))`;
  return new Worker(bootstrap, { eval: true, workerData });
}
