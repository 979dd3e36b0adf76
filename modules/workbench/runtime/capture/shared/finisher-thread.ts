/** The entry of the thread that finishes requests for the database. */
import { parentPort } from 'node:worker_threads';
import { serveThread } from '../../../../../runtime/store/sqlite/thread.ts';
import { RecordFinisher } from '../record-finisher.ts';
import type { CaptureWriterRequest } from '../sqlite/capture-writer.ts';

const finisher = new RecordFinisher();
if (parentPort !== null) {
  serveThread<CaptureWriterRequest>(parentPort, (request) =>
    request.kind === 'close' ? null : finisher.finish(request.records, request.secrets),
  );
}
