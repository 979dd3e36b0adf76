/** Opens the kept requests of a home whose gateway is not running, for a command. */

import type { FoundRequest, KeptRequests, KeptSummary } from '../../../../runtime/intake/kept-request.ts';
import type { Client } from '../../../../runtime/store/sqlite/thread.ts';
import { inlineClient } from '../../../../runtime/store/sqlite/thread.ts';
import type { CaptureReaderRequest } from './sqlite/capture-reader.ts';
import { CaptureReader } from './sqlite/capture-reader.ts';

/** @param path see `capturePath`; without a file, there are no kept requests */
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
