/**
 * Kept requests in a shared database, with the same interface as the file's writer and reader. A thread finishes them; the
 * rows are few and small, so they are sent from the main thread.
 */

import type {
  FoundRequest,
  KeptFilter,
  KeptHead,
  KeptPage,
  KeptRequests,
  KeptSummary,
} from '../../../../../runtime/intake/kept-request.ts';
import type { Logger } from '../../../../../runtime/platform/log.ts';
import { startEntry } from '../../../../../runtime/platform/process/start-thread.ts';
import type { RequestRows } from '../../../../../runtime/store/request-rows.ts';
import type { Client } from '../../../../../runtime/store/sqlite/thread.ts';
import { inlineClient, ThreadClient } from '../../../../../runtime/store/sqlite/thread.ts';
import type { CaptureLimits } from '../captured.ts';
import { LONGEST_PAGE, requestOf, summaryOf } from '../kept-row.ts';
import type { NumberedRecord } from '../record-finisher.ts';
import { firstNumber, numberOf, numbersOf } from '../request-id.ts';
import type { CaptureReaderRequest } from '../sqlite/capture-reader.ts';
import type { CaptureWriterRequest } from '../sqlite/capture-writer.ts';

/** The limits are enforced every minute, and whenever this share of the space has been written. */
const TRIM_SHARE = 1 / 32;

/** The kept requests of a database; the caller closes it. */
export const sharedRequests = (rows: RequestRows): Omit<KeptRequests, 'close'> => ({
  list: (filter, page) => list(rows, filter, page),
  load: (id) => load(rows, id),
});

/** A client that reads kept requests from the database. */
export function sharedReader(rows: RequestRows): Client<CaptureReaderRequest> {
  return inlineClient<CaptureReaderRequest>((request) => {
    switch (request.kind) {
      case 'list':
        return list(rows, request.filter, request.page);
      case 'load':
        return load(rows, request.id);
      case 'close':
        return null;
    }
  });
}

/** A client that finishes requests in a thread and stores them in the database. */
export function sharedWriter(rows: RequestRows, log: Logger): Client<CaptureWriterRequest> {
  const start = () => startEntry(new URL('./finisher-thread.js', import.meta.url), {});
  const onDeath = (reason: string): void => log.error({ reason }, 'a thread that keeps requests has died');
  const finisher = new ThreadClient<CaptureWriterRequest>(start, onDeath);
  let untrimmed = 0;
  const trim = async ({ before, maxBytes }: CaptureLimits, isDue: boolean): Promise<void> => {
    if (!isDue && untrimmed < maxBytes * TRIM_SHARE) return;
    untrimmed = 0;
    await rows.trim(before, maxBytes);
  };
  return {
    async ask<Answer>(request: CaptureWriterRequest) {
      if (request.kind === 'close') return 0 as Answer;
      const finished = await finisher.ask<readonly NumberedRecord[] | null>(request);
      if (finished === null) return null as Answer;
      const stored = finished.length === 0 ? 0 : await rows.add(finished.map(rowOf));
      for (const { head } of finished) untrimmed += head.body_bytes ?? 0;
      // Every minute the queue sends a request without records.
      await trim(request.limits, finished.length === 0);
      return stored as Answer;
    },
    end: (last) => finisher.end(last),
  };
}

function rowOf({ number: n, head, body }: NumberedRecord) {
  const { profile, route, outcome, reason } = head;
  return { n, profile, route, outcome, reason, head: JSON.stringify(head), body };
}

async function list(rows: RequestRows, filter: KeptFilter, page: KeptPage): Promise<readonly KeptSummary[]> {
  const { since, grep, ...columns } = filter;
  const lowest = since === undefined ? -1 : firstNumber(since) - 1;
  const below = startOf(page.before);
  const found = await rows.list({
    ...columns,
    above: Math.max(lowest, startOf(page.after) ?? -1),
    ...(below === undefined ? {} : { below }),
    ...(grep === undefined ? {} : { grep }),
    isAscending: page.after !== undefined,
    limit: Math.min(page.limit, LONGEST_PAGE),
  });
  return found.map(({ n, head }) => summaryOf(n, JSON.parse(head) as KeptHead));
}

/** An invalid id sorts before all others. */
const startOf = (id: string | undefined): number | undefined => (id === undefined ? undefined : (numberOf(id) ?? 0));

async function load(rows: RequestRows, id: string): Promise<FoundRequest> {
  const range = numbersOf(id);
  if (range === null) return { kind: 'unknown' };
  const [found, other] = await rows.between(...range);
  if (found === undefined) return { kind: 'unknown' };
  if (other !== undefined) return { kind: 'ambiguous' };
  const body = found.body === null ? null : Buffer.from(found.body);
  return { kind: 'found', request: requestOf(found.n, found.head, body) };
}
