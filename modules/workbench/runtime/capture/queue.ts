/**
 * Queues requests for the thread that stores them. They wait at most a second, to share a transaction, in bounded
 * memory. Requests that do not fit, or cannot be stored, are dropped and counted.
 */
import { messageOf } from '../../../../base/errors.ts';
import { ControlError } from '../../../../runtime/control/control-error.ts';
import type { CaptureCounts, CapturedRequests, CaptureStoreContext } from '../../../../runtime/intake/keeper.ts';
import type { Timer } from '../../../../runtime/platform/clock.ts';
import type { Logger } from '../../../../runtime/platform/log.ts';
import { startEntry } from '../../../../runtime/platform/process/threads.ts';
import type { NewRequestRow, RequestRows } from '../../../../runtime/store/shared.ts';
import { ThreadClient } from '../../../../runtime/store/sqlite/thread.ts';
import type { CaptureThreadData, RowsRequest, Stored, WriteRequest } from './capture-thread.ts';
import type { UnfinishedRecord } from './record.ts';
import type { CaptureLimits } from './requests.ts';
import { capturedRequests, LimitedRows } from './requests.ts';

/** How long a request waits for others, in ms. */
const FLUSH_MS = 1000;
/** Maximum numbers of bytes and requests that wait or are being written. */
const MAX_BYTES = 16 * 1024 * 1024;
const MAX_REQUESTS = 5000;
/** Assumed size of a request without its body, in bytes. */
const HEAD_BYTES = 2048;
/** How often expired requests are removed, in ms. */
const EXPIRE_MS = 60_000;

export interface WaitingRequest {
  readonly captured: UnfinishedRecord;
  /** Whether it has been sent to the thread, or dropped. */
  isGone: boolean;
}

/** Stores requests in a file of the home, or in the database that gateways share. */
export interface CaptureEngine {
  /** Resolves to null, without storing any, if all secrets are needed again. */
  store(request: WriteRequest): Promise<Stored | null>;
  readonly requests: Omit<CapturedRequests, 'close'>;
  close(): Promise<void>;
}

/** The threads start with their first request. */
export function fileEngine(path: string, log: Logger): CaptureEngine {
  const writer = startThread<WriteRequest>({ role: 'write', path }, log);
  const reader = startThread<RowsRequest>({ role: 'read', path }, log);
  const read = <T>(request: RowsRequest): Promise<T> =>
    reader.ask<T>(request).catch((error: unknown) => {
      const reason = messageOf(error);
      log.warn({ reason }, 'could not read captured requests');
      throw new ControlError('failed', reason);
    });
  return {
    store: (request) => writer.ask(request),
    requests: {
      list: (filter, page) => read({ kind: 'list', filter, page }),
      load: (id) => read({ kind: 'load', id }),
    },
    close: async () => {
      await writer.end(null);
      await reader.end(null);
    },
  };
}

/** A thread finishes the requests. This thread sends the rows, which are few and small. */
export function sharedEngine(rows: RequestRows, log: Logger): CaptureEngine {
  const finisher = startThread<WriteRequest>({ role: 'finish' }, log);
  const limited = new LimitedRows(rows);
  return {
    async store(request) {
      const finished = await finisher.ask<readonly NewRequestRow[] | null>(request);
      return finished === null ? null : { stored: await limited.store(finished, request.limits), lost: null };
    },
    requests: capturedRequests(rows),
    close: () => finisher.end(null),
  };
}

function startThread<Request>(data: CaptureThreadData, log: Logger): ThreadClient<Request | null> {
  const start = () => startEntry(new URL('./capture-thread.js', import.meta.url), data);
  return new ThreadClient(start, (reason) => log.error({ reason }, 'a thread that captures requests has ended'));
}

interface QueueContext extends Pick<CaptureStoreContext, 'secrets' | 'clock' | 'log'> {
  readonly engine: Pick<CaptureEngine, 'store'>;
  readonly counts: Writable<CaptureCounts>;
}

type Writable<Counts> = {
  -readonly [Name in keyof Counts]: Counts[Name] extends number ? number : Writable<Counts[Name]>;
};

export class CaptureQueue {
  private readonly context: QueueContext;
  private readonly limits: () => CaptureLimits;
  private waiting: WaitingRequest[] = [];
  private held = 0;
  private heldBytes = 0;
  private flushTimer: Timer | null = null;
  private expireTimer: Timer;
  private writing: Promise<void> = Promise.resolve();
  /** Number of secrets that the thread already has. */
  private sentSecrets = 0;
  private failedWith = '';

  constructor(context: QueueContext, limits: () => CaptureLimits) {
    this.context = context;
    this.limits = limits;
    this.expireTimer = this.expireLater();
  }

  /** @param bytes length of the body */
  hasRoom(bytes: number): boolean {
    return this.held < MAX_REQUESTS && this.heldBytes + HEAD_BYTES + bytes <= MAX_BYTES;
  }

  add(captured: UnfinishedRecord): WaitingRequest {
    const waiting = { captured, isGone: false };
    this.waiting.push(waiting);
    this.hold(captured, 1);
    this.flushTimer ??= this.context.clock.after(FLUSH_MS, () => void this.flush());
    return waiting;
  }

  /** Drops a request that still waits. */
  remove(waiting: WaitingRequest): void {
    waiting.isGone = true;
    this.hold(waiting.captured, -1);
  }

  flush(): Promise<void> {
    this.flushTimer?.cancel();
    this.flushTimer = null;
    const going = this.waiting.filter(({ isGone }) => !isGone);
    this.waiting = [];
    for (const waiting of going) waiting.isGone = true;
    const records = going.map(({ captured }) => captured);
    if (records.length > 0) this.writing = this.writing.then(() => this.write(records));
    return this.writing;
  }

  async close(): Promise<void> {
    this.expireTimer.cancel();
    await this.flush();
  }

  private async write(records: readonly UnfinishedRecord[]): Promise<void> {
    const { counts } = this.context;
    let stored = 0;
    try {
      const written = (await this.ask(records)) ?? (await this.ask(records));
      stored = written?.stored ?? 0;
      if (written?.lost != null) {
        const { reason, bytes } = written.lost;
        this.context.log.warn(
          { reason, bytes },
          'the file of captured requests was damaged and has been replaced by an empty one',
        );
      }
      this.failedWith = '';
    } catch (error) {
      this.fail(error);
    }
    counts.kept += stored;
    counts.dropped.failed += records.length - stored;
    for (const record of records) this.hold(record, -1);
  }

  /** Null: the thread was restarted and needs all secrets again. */
  private async ask(records: readonly UnfinishedRecord[]): Promise<Stored | null> {
    const all = [...this.context.secrets()];
    const secrets = { known: this.sentSecrets, added: all.slice(this.sentSecrets) };
    const stored = await this.context.engine.store({ records, limits: this.limits(), secrets });
    this.sentSecrets = stored === null ? 0 : all.length;
    return stored;
  }

  private hold({ body }: UnfinishedRecord, count: 1 | -1): void {
    this.held += count;
    this.heldBytes += count * (HEAD_BYTES + (body?.length ?? 0));
  }

  /** Logs each reason once. */
  private fail(error: unknown): void {
    const reason = messageOf(error);
    if (reason === this.failedWith) return;
    this.failedWith = reason;
    this.context.log.warn({ reason }, 'could not capture requests; events are not affected');
  }

  private expireLater(): Timer {
    return this.context.clock.after(EXPIRE_MS, () => {
      this.writing = this.writing.then(() => this.write([]));
      this.expireTimer = this.expireLater();
    });
  }
}
