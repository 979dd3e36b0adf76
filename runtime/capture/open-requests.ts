/** The kept requests of a home whose gateway does not run, for a command. */

import type { Client } from '../store/sqlite/thread.ts';
import { inlineClient } from '../store/sqlite/thread.ts';
import type { FoundRequest, KeptRequests, KeptSummary } from './kept-request.ts';
import type { CaptureReaderRequest } from './sqlite/capture-reader.ts';
import { CaptureReader } from './sqlite/capture-reader.ts';

/** @param path see `capturePath`; where there is no file, nothing was kept */
export function openRequests(path: string): KeptRequests {
  const reader = new CaptureReader(path);
  return requestsOf(inlineClient<CaptureReaderRequest>((request) => reader.serve(request)));
}

export function requestsOf(reader: Client<CaptureReaderRequest>): KeptRequests {
  return {
    list: (filter, page) => reader.ask<readonly KeptSummary[]>({ kind: 'list', filter, page }),
    load: (id) => reader.ask<FoundRequest>({ kind: 'load', id }),
    close: () => reader.end({ kind: 'close' }),
  };
}
