/** Starts a thread from the build and from source alike. */
import { Worker } from 'node:worker_threads';

/**
 * Starts `entry` (named as it is when built) with `workerData`. From source the file is TypeScript, and a thread does
 * not inherit the loader of its process: it has to register one first.
 */
export function startEntry(entry: URL, workerData: unknown): Worker {
  if (import.meta.url.endsWith('.js')) return new Worker(entry, { workerData });
  const source = entry.href.replace(/\.js$/, '.ts');
  const loader = import.meta.resolve('tsx/esm/api');
  const bootstrap = `import(${JSON.stringify(loader)}).then((tsx) => (tsx.register(), import(${JSON.stringify(source)})))`;
  return new Worker(bootstrap, { eval: true, workerData });
}
