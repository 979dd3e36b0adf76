/** Opens the room in which a server keeps requests. */
import type { CaptureContext } from './capture.ts';
import { Capture } from './capture.ts';
import { startThreads } from './sqlite/start-threads.ts';

export function openCapture(path: string, context: Omit<CaptureContext, 'writer' | 'reader'>): Capture {
  return new Capture({ ...context, ...startThreads(path, context.log) });
}
