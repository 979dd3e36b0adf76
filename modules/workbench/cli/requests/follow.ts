/** Prints requests as they arrive, until Ctrl-C. */

import { setTimeout } from 'node:timers/promises';
import type { CliContext } from '../../../../cli/base/context.ts';
import type { KeptRequests } from '../../../../runtime/intake/kept-request.ts';
import type { KeptFilter, RequestSummary } from '../../../../schemas/built/operations/types.ts';

/** Polling interval, in ms. */
const FOLLOW_MS = 500;
const PAGE = 200;

/** @param after id of the last request that was printed */
export async function followRequests(
  context: CliContext,
  requests: KeptRequests,
  { filter, after, print }: { filter: KeptFilter; after: string; print: (rows: readonly RequestSummary[]) => void },
): Promise<void> {
  let last = after;
  const stop = new AbortController();
  const unlisten = context.onSignal(() => stop.abort());
  try {
    while (!stop.signal.aborted) {
      const rows = await requests.list(filter, { limit: PAGE, after: last });
      if (rows.length > 0) print(rows);
      last = rows.at(-1)?.id ?? last;
      // Not by the clock of the context: its timers keep no process alive.
      await setTimeout(FOLLOW_MS, null, { signal: stop.signal }).catch(() => {});
    }
  } finally {
    unlisten();
  }
}
