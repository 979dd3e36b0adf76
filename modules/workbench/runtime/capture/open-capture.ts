/** Opens the kept requests of a server: in the shared database, or in a file of the home. */
import type { RequestRows } from '../../../../runtime/store/request-rows.ts';
import type { CaptureContext } from './capture.ts';
import { Capture } from './capture.ts';
import { anyPlace } from './request-id.ts';
import { sharedReader, sharedWriter } from './shared/shared-requests.ts';
import { startThreads } from './sqlite/start-threads.ts';

/** @param path of the file @param rows of the shared database; null when there is none */
export function openCapture(
  path: string,
  rows: RequestRows | null,
  context: Omit<CaptureContext, 'writer' | 'reader' | 'place'>,
): Capture {
  if (rows === null) return new Capture({ ...context, ...startThreads(path, context.log) });
  const [writer, reader] = [sharedWriter(rows, context.log), sharedReader(rows)];
  return new Capture({ ...context, writer, reader, place: anyPlace });
}
