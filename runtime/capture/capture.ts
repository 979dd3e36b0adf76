/**
 * Keeps requests after they were answered: those that its route's budget lets through wait in memory for at most a second,
 * and go to a thread of their own. What there is no room for is dropped and counted; no answer ever waits for it.
 */
import type { GatewayPlan, RouteTable } from '../../schemas/generated/types.ts';
import type { Redact } from '../deliver/redact.ts';
import type { Intake } from '../intake/intake.ts';
import type { Reply } from '../intake/reply.ts';
import { TAKEN } from '../intake/reply.ts';
import type { Clock, Timer } from '../platform/clock.ts';
import type { Logger } from '../platform/log.ts';
import type { Client } from '../store/sqlite/thread.ts';
import type { LinkedRoute } from '../table/linked-table.ts';
import { CaptureBudget } from './capture-budget.ts';
import type { CaptureCounts } from './capture-counts.ts';
import type { Captured, CaptureLimits } from './captured.ts';
import type { CredentialPlaces } from './credentials.ts';
import { credentialPlaces } from './credentials.ts';
import type { KeptRequests } from './kept-request.ts';
import { makeRecord } from './make-record.ts';
import { requestsOf } from './open-requests.ts';
import { createRequestIds, firstNumber, idOf } from './request-id.ts';
import type { ReaderRequest } from './sqlite/capture-reader.ts';
import type { WriterRequest } from './sqlite/capture-writer.ts';

export interface CaptureContext {
  /** The one in service. */
  readonly table: () => RouteTable;
  readonly writer: Client<WriterRequest>;
  readonly reader: Client<ReaderRequest>;
  readonly counts: CaptureCounts;
  readonly redact: Redact;
  readonly clock: Clock;
  readonly log: Logger;
}

/** How long a request waits for others to be written with, in ms. */
const FLUSH_MS = 1000;
/** Memory of what waits and of what the thread is busy with, in bytes and requests. */
const MAX_BYTES = 16 * 1024 * 1024;
const MAX_WAITING = 5000;
/** Between two looks for what has become too old, in ms. */
const EXPIRE_MS = 60_000;
/** Of a record beside its body and what its sender wrote, in bytes. */
const RECORD_BYTES = 1024;
const DAY_MS = 86_400_000;

interface Waiting {
  readonly captured: Captured;
  readonly bytes: number;
  isGone: boolean;
}

export class Capture {
  readonly requests: KeptRequests;
  private readonly context: CaptureContext;
  private readonly nextNumber = createRequestIds();
  private readonly budgets = new WeakMap<LinkedRoute['window'], CaptureBudget<Waiting>>();
  private waiting: Waiting[] = [];
  private held = 0;
  private heldBytes = 0;
  private flushTimer: Timer | null = null;
  private expireTimer: Timer;
  private places: { readonly table: RouteTable; readonly places: CredentialPlaces } | null = null;
  private writing: Promise<void> = Promise.resolve();
  private failedWith = '';
  private isClosed = false;

  constructor(context: CaptureContext) {
    this.context = context;
    const requests = requestsOf(context.reader);
    this.requests = {
      list: async (filter, page) => {
        await this.flush();
        return requests.list(filter, page);
      },
      load: async (id) => {
        await this.flush();
        return requests.load(id);
      },
      close: () => this.close(),
    };
    this.expireTimer = this.expireLater();
  }

  /** Keeps an answered request, if there is room. @returns its id; null: it is not kept @param replayOf id of the one it repeats */
  take(intake: Intake, reply: Reply, replayOf: string | null = null): string | null {
    const isTaken = TAKEN.has(reply.outcome);
    const { capture } = intake.route.plan;
    if (this.isClosed || capture === 'none' || (capture === 'problems' && isTaken)) return null;
    const { clock, counts } = this.context;
    const now = clock.monotonic();
    const budget = this.budgetOf(intake.route);
    const { capture_per_second } = this.settings;
    const place = intake.authenticated ? budget.admit(capture_per_second, isTaken, now) : budget.admitStranger(now);
    if (typeof place === 'object') this.giveUp(place);
    if (place !== true) counts.dropped.rate++;
    if (place === false) return null;
    const bytes = RECORD_BYTES + intake.body.length + intake.url.length;
    if (this.held >= MAX_WAITING || this.heldBytes + bytes > MAX_BYTES) {
      counts.dropped.queue++;
      return null;
    }
    const number = this.nextNumber(intake.receivedAt);
    const { schemes } = this.context.table();
    const record = { places: this.credentialPlaces(), schemes, redact: this.context.redact, now, replayOf };
    const waiting = { captured: makeRecord(number, intake, reply, record), bytes, isGone: false };
    this.add(waiting);
    if (isTaken && intake.authenticated) budget.addTaken(waiting);
    return idOf(number);
  }

  /** Resolves once everything that waits is stored, or dropped where it cannot be. */
  flush(): Promise<void> {
    this.flushTimer?.cancel();
    this.flushTimer = null;
    const going = this.waiting.filter(({ isGone }) => !isGone);
    this.waiting = [];
    for (const waiting of going) waiting.isGone = true;
    if (going.length > 0) this.writing = this.writing.then(() => this.write(going));
    return this.writing;
  }

  async close(): Promise<void> {
    this.isClosed = true;
    this.expireTimer.cancel();
    await this.flush();
    await this.context.writer.end({ kind: 'close' });
    await this.context.reader.end({ kind: 'close' });
  }

  private add(waiting: Waiting): void {
    this.waiting.push(waiting);
    this.held++;
    this.heldBytes += waiting.bytes;
    this.flushTimer ??= this.context.clock.after(FLUSH_MS, () => void this.flush());
  }

  private giveUp(waiting: Waiting): void {
    waiting.isGone = true;
    this.free(waiting);
  }

  private free({ bytes }: Waiting): void {
    this.held--;
    this.heldBytes -= bytes;
  }

  private async write(going: readonly Waiting[]): Promise<void> {
    const { counts } = this.context;
    let stored = 0;
    try {
      const records = going.map(({ captured }) => captured);
      stored = await this.context.writer.ask<number>({ kind: 'write', records, limits: this.limits() });
      this.failedWith = '';
    } catch (error) {
      this.fail(error);
    }
    counts.kept += stored;
    counts.dropped.failed += going.length - stored;
    for (const waiting of going) this.free(waiting);
  }

  /** Says so once for each thing that is wrong. */
  private fail(error: unknown): void {
    const reason = error instanceof Error ? error.message : String(error);
    if (reason === this.failedWith) return;
    this.failedWith = reason;
    this.context.log.warn({ reason }, 'requests cannot be kept: events are not affected');
  }

  private expireLater(): Timer {
    return this.context.clock.after(EXPIRE_MS, () => {
      this.writing = this.writing.then(() => this.write([]));
      this.expireTimer = this.expireLater();
    });
  }

  private limits(): CaptureLimits {
    const { capture_days, capture_max_mb } = this.settings;
    const before = firstNumber(this.context.clock.now() - capture_days * DAY_MS);
    return { before, maxBytes: capture_max_mb * 2 ** 20 };
  }

  private get settings(): GatewayPlan {
    return this.context.table().gateway;
  }

  /** As long as a route has its window, through every swap of the table. */
  private budgetOf({ window }: LinkedRoute): CaptureBudget<Waiting> {
    const budget = this.budgets.get(window) ?? new CaptureBudget<Waiting>();
    this.budgets.set(window, budget);
    return budget;
  }

  private credentialPlaces(): CredentialPlaces {
    const table = this.context.table();
    if (this.places?.table !== table) {
      this.places = { table, places: credentialPlaces(Object.values(table.schemes)) };
    }
    return this.places.places;
  }
}
