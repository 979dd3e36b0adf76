/** Opens the kept requests of a server: in the shared database, or in a file of the home. */
import type { Keeper, KeeperContext } from '../../../../runtime/intake/keeper.ts';
import type { CaptureContext } from './capture.ts';
import { Capture } from './capture.ts';
import { createCaptureCounts } from './capture-counts.ts';
import { capturePath } from './capture-path.ts';
import { replayRequest, whyNotReplayable } from './replay-request.ts';
import { anyPlace } from './request-id.ts';
import { sharedReader, sharedWriter } from './shared/shared-requests.ts';
import { startThreads } from './sqlite/start-threads.ts';

export function openKeeper({ home, rows, ...context }: KeeperContext): Keeper {
  const counts = createCaptureCounts();
  const capture = openCapture(capturePath(home), rows, { ...context, counts });
  return {
    keep: (...request) => capture.take(...request),
    requests: capture.requests,
    counts,
    whyNotReplayable,
    replay: replayRequest,
    close: () => capture.close(),
  };
}

/** @param path of the file @param rows of the shared database; null when there is none */
function openCapture(
  path: string,
  rows: KeeperContext['rows'],
  context: Omit<CaptureContext, 'writer' | 'reader' | 'place'>,
): Capture {
  if (rows === null) return new Capture({ ...context, ...startThreads(path, context.log) });
  const [writer, reader] = [sharedWriter(rows, context.log), sharedReader(rows)];
  return new Capture({ ...context, writer, reader, place: anyPlace });
}
