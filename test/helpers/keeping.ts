/** A gateway that captures requests in its own file, written and read in the thread of the test. */

import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { FileWriter } from '../../modules/workbench/runtime/capture/capture-thread.ts';
import { BudgetedCaptureStore } from '../../modules/workbench/runtime/capture/keep.ts';
import type { CaptureEngine } from '../../modules/workbench/runtime/capture/queue.ts';
import { RequestFileReader } from '../../modules/workbench/runtime/capture/request-file.ts';
import { capturedRequests } from '../../modules/workbench/runtime/capture/requests.ts';
import { Redactor } from '../../runtime/deliver/redact.ts';
import type { CaptureCounts, CaptureStoreContext } from '../../runtime/intake/keeper.ts';
import { systemClock } from '../../runtime/platform/clock.ts';
import type { KeptFilter, KeptRequest, RequestSummary } from '../../schemas/built/operations/types.ts';
import { atEnd } from './at-end.ts';
import { recordLog } from './log.ts';
import type { TableParts } from './route-table.ts';
import { routeTable } from './route-table.ts';
import type { Served, ServeOptions } from './serve.ts';
import { serve } from './serve.ts';
import { tempDir } from './temp-dir.ts';

export interface Keeping extends Served {
  readonly capture: BudgetedCaptureStore;
  readonly counts: CaptureCounts;
  readonly path: string;
  readonly list: (filter?: KeptFilter, limit?: number) => Promise<readonly RequestSummary[]>;
  /** The newest captured request. */
  readonly last: () => Promise<KeptRequest>;
}

/** All routes capture everything by default. */
export async function serveKeeping(
  t: TestContext,
  parts: TableParts,
  options: ServeOptions & {
    /** Replaces the file. */
    readonly store?: CaptureEngine['store'];
    readonly redactor?: Redactor;
    /** Restarts the writer for each write. */
    readonly forgets?: boolean;
  } = {},
): Promise<Keeping> {
  const routes = Object.entries(parts.routes ?? {}).map(
    ([name, route]) => [name, { capture: 'all', ...route }] as const,
  );
  const all: TableParts = { ...parts, routes: Object.fromEntries(routes) };
  const path = join(tempDir(t), 'requests.db');
  const { clock = systemClock, redactor = new Redactor(), store, forgets = false } = options;
  const { table } = routeTable(all);
  const capture = openCapture(path, { table: () => table, clock, forgets, secrets: () => redactor.secrets, store });
  const served = await serve(t, all, {
    ...options,
    keeping: { keep: capture.keep, keepMiss: capture.keepMiss },
  });
  atEnd(t, () => capture.close());
  const list: Keeping['list'] = (filter = {}, limit = 100) => capture.requests.list(filter, { limit });
  const last = async (): Promise<KeptRequest> => {
    const [newest] = await list({}, 1);
    const found = await capture.requests.load(newest?.id ?? '');
    if (found.kind !== 'found') throw new Error('nothing was kept');
    return found.request;
  };
  return { ...served, capture, counts: capture.counts, path, list, last };
}

export function openCapture(
  path: string,
  {
    forgets,
    store,
    ...context
  }: Pick<CaptureStoreContext, 'table' | 'clock' | 'secrets'> & {
    readonly store?: CaptureEngine['store'] | undefined;
    readonly forgets: boolean;
  },
): BudgetedCaptureStore {
  let writer = new FileWriter(path);
  let writes = 0;
  const reader = new RequestFileReader(path);
  const engine: CaptureEngine = {
    store: async (request) => {
      if (forgets && request.secrets.known > 0 && writes++ === 0) {
        writer.close();
        writer = new FileWriter(path);
      }
      return writer.store(request);
    },
    requests: capturedRequests(reader),
    close: async () => {
      writer.close();
      reader.close();
    },
  };
  return new BudgetedCaptureStore(
    { ...context, log: recordLog() },
    { ...engine, ...(store === undefined ? {} : { store }) },
  );
}
