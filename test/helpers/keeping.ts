/** A gateway that keeps requests in a file of its own, written and read in the thread of the test. */
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { Capture } from '../../modules/workbench/runtime/capture/capture.ts';
import type { CaptureCounts } from '../../modules/workbench/runtime/capture/capture-counts.ts';
import { createCaptureCounts } from '../../modules/workbench/runtime/capture/capture-counts.ts';
import type { CaptureReaderRequest } from '../../modules/workbench/runtime/capture/sqlite/capture-reader.ts';
import { CaptureReader } from '../../modules/workbench/runtime/capture/sqlite/capture-reader.ts';
import type { CaptureWriterRequest } from '../../modules/workbench/runtime/capture/sqlite/capture-writer.ts';
import { CaptureWriter } from '../../modules/workbench/runtime/capture/sqlite/capture-writer.ts';
import { Redactor } from '../../runtime/deliver/redact.ts';
import type { KeptFilter, KeptRequest, KeptSummary } from '../../runtime/intake/kept-request.ts';
import { systemClock } from '../../runtime/platform/clock.ts';
import type { Client } from '../../runtime/store/sqlite/thread.ts';
import { inlineClient } from '../../runtime/store/sqlite/thread.ts';
import { atEnd } from './at-end.ts';
import { recordLog } from './log.ts';
import type { TableParts } from './route-table.ts';
import { routeTable } from './route-table.ts';
import type { Served, ServeOptions } from './serve.ts';
import { serve } from './serve.ts';
import { tempDir } from './temp-dir.ts';

export interface Keeping extends Served {
  readonly capture: Capture;
  readonly counts: CaptureCounts;
  readonly path: string;
  readonly list: (filter?: KeptFilter, limit?: number) => Promise<readonly KeptSummary[]>;
  /** The newest. */
  readonly last: () => Promise<KeptRequest>;
}

/** All routes keep everything, unless they say otherwise. */
export async function serveKeeping(
  t: TestContext,
  parts: TableParts,
  options: ServeOptions & {
    readonly writer?: Client<CaptureWriterRequest>;
    readonly redactor?: Redactor;
    /** The writer is started again for each write. */
    readonly forgets?: boolean;
  } = {},
): Promise<Keeping> {
  const routes = Object.entries(parts.routes ?? {}).map(
    ([name, route]) => [name, { capture: 'all', ...route }] as const,
  );
  const all: TableParts = { ...parts, routes: Object.fromEntries(routes) };
  const path = join(tempDir(t), 'requests.db');
  const counts = createCaptureCounts();
  const { clock = systemClock, redactor = new Redactor() } = options;
  const writer = options.writer === undefined ? {} : { writer: options.writer };
  const { forgets = false } = options;
  const { table } = routeTable(all);
  const capture = openCapture(path, {
    table: () => table,
    counts,
    clock,
    forgets,
    secrets: () => redactor.secrets,
    ...writer,
  });
  const served = await serve(t, all, {
    ...options,
    keeping: { keep: (...request) => capture.take(...request), prepare: async () => {} },
  });
  atEnd(t, () => capture.close());
  const list: Keeping['list'] = (filter = {}, limit = 100) => capture.requests.list(filter, { limit });
  const last = async (): Promise<KeptRequest> => {
    const [newest] = await list({}, 1);
    const found = await capture.requests.load(newest?.id ?? '');
    if (found.kind !== 'found') throw new Error('nothing was kept');
    return found.request;
  };
  return { ...served, capture, counts, path, list, last };
}

export function openCapture(
  path: string,
  context: Pick<ConstructorParameters<typeof Capture>[0], 'table' | 'counts' | 'clock' | 'secrets'> & {
    readonly writer?: Client<CaptureWriterRequest>;
    readonly forgets: boolean;
  },
): Capture {
  let writer = new CaptureWriter(path);
  let writes = 0;
  const reader = new CaptureReader(path);
  return new Capture({
    writer: inlineClient<CaptureWriterRequest>((request) => {
      if (context.forgets && request.kind === 'write' && request.secrets.known > 0 && writes++ === 0) {
        writer.serve({ kind: 'close' });
        writer = new CaptureWriter(path);
      }
      return writer.serve(request);
    }),
    ...context,
    reader: inlineClient<CaptureReaderRequest>((request) => reader.serve(request)),
    log: recordLog(),
  });
}
