/** The threads of a server that store and read kept requests; each starts with its first request. */
import type { Logger } from '../../../../../runtime/platform/log.ts';
import { startEntry } from '../../../../../runtime/platform/process/start-thread.ts';
import { ThreadClient } from '../../../../../runtime/store/sqlite/thread.ts';
import type { CaptureReaderRequest } from './capture-reader.ts';
import type { CaptureThreadData } from './capture-thread.ts';
import type { CaptureWriterRequest } from './capture-writer.ts';

export interface CaptureThreads {
  readonly writer: ThreadClient<CaptureWriterRequest>;
  readonly reader: ThreadClient<CaptureReaderRequest>;
}

export function startThreads(path: string, log: Logger): CaptureThreads {
  const start = (role: CaptureThreadData['role']) => () =>
    startEntry(new URL('./capture-thread.js', import.meta.url), { role, path } satisfies CaptureThreadData);
  const onDeath = (reason: string): void => log.error({ reason }, 'a thread that keeps requests has died');
  return {
    writer: new ThreadClient(start('writer'), onDeath),
    reader: new ThreadClient(start('reader'), onDeath),
  };
}
