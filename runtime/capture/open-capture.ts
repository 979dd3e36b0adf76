/** Opens the room in which a server keeps requests: a thread that writes their file and, once someone asks, one that reads it. */
import { startEntry } from '../platform/process/start-thread.ts';
import { ThreadClient } from '../store/sqlite/thread.ts';
import type { CaptureContext } from './capture.ts';
import { Capture } from './capture.ts';
import type { ReaderRequest } from './sqlite/capture-reader.ts';
import type { CaptureThreadData } from './sqlite/capture-thread.ts';
import type { WriterRequest } from './sqlite/capture-writer.ts';

export function openCapture(path: string, context: Omit<CaptureContext, 'writer' | 'reader'>): Capture {
  const start = (role: CaptureThreadData['role']) => () =>
    startEntry(new URL('./sqlite/capture-thread.js', import.meta.url), { role, path } satisfies CaptureThreadData);
  const onDeath = (reason: string): void => context.log.error({ reason }, 'a thread that keeps requests has died');
  return new Capture({
    ...context,
    writer: new ThreadClient<WriterRequest>(start('writer'), onDeath),
    reader: new ThreadClient<ReaderRequest>(start('reader'), onDeath),
  });
}
