/**
 * Keeps answered requests, without credentials, within the budgets of their routes. No response waits for it.
 */

import type { Intake } from '../../../../runtime/intake/intake.ts';
import type { KeptRequests } from '../../../../runtime/intake/kept-request.ts';
import type { Reply } from '../../../../runtime/intake/reply.ts';
import { TAKEN } from '../../../../runtime/intake/reply.ts';
import type { Clock } from '../../../../runtime/platform/clock.ts';
import type { Logger } from '../../../../runtime/platform/log.ts';
import type { Client } from '../../../../runtime/store/sqlite/thread.ts';
import type { LinkedRoute } from '../../../../runtime/table/linked-table.ts';
import type { GatewayPlan, RouteTable } from '../../../../schemas/generated/types.ts';
import { CaptureBudget } from './capture-budget.ts';
import type { CaptureCounts } from './capture-counts.ts';
import type { WaitingRequest } from './capture-queue.ts';
import { CaptureQueue } from './capture-queue.ts';
import type { CaptureLimits } from './captured.ts';
import type { CredentialPlaces } from './credentials.ts';
import { credentialPlaces } from './credentials.ts';
import { makeRecord } from './make-record.ts';
import { requestsOf } from './open-requests.ts';
import { createRequestIds, firstNumber, idOf } from './request-id.ts';
import type { CaptureReaderRequest } from './sqlite/capture-reader.ts';
import type { CaptureWriterRequest } from './sqlite/capture-writer.ts';

export interface CaptureContext {
  /** The table in service. */
  readonly table: () => RouteTable;
  readonly writer: Client<CaptureWriterRequest>;
  readonly reader: Client<CaptureReaderRequest>;
  readonly counts: CaptureCounts;
  /** Secrets that no kept request may contain; the set only grows. */
  readonly secrets: () => ReadonlySet<string>;
  /** See `createRequestIds`. */
  readonly place?: () => number;
  readonly clock: Clock;
  readonly log: Logger;
}

const DAY_MS = 86_400_000;

export class Capture {
  readonly requests: KeptRequests;
  private readonly context: CaptureContext;
  private readonly queue: CaptureQueue;
  private readonly nextNumber: (now: number) => number;
  /** Keyed by the route's window, which survives swaps of the table. */
  private readonly budgets = new WeakMap<LinkedRoute['window'], CaptureBudget<WaitingRequest>>();
  private places: { readonly table: RouteTable; readonly places: CredentialPlaces } | null = null;
  private isClosed = false;

  constructor(context: CaptureContext) {
    this.context = context;
    this.nextNumber = createRequestIds(context.place);
    this.queue = new CaptureQueue(context, () => this.limits());
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
  }

  /** Keeps an answered request if there is room; returns its id, or null. @param replayOf id of the request that it repeats */
  take(intake: Intake, reply: Reply, replayOf: string | null = null): string | null {
    const isTaken = TAKEN.has(reply.outcome);
    const { capture } = intake.route.plan;
    if (this.isClosed || capture === 'none' || (capture === 'problems' && isTaken)) return null;
    const { clock, counts } = this.context;
    const now = clock.monotonic();
    const budget = this.budgetOf(intake.route);
    const { capture_per_second } = this.settings;
    const place = intake.authenticated ? budget.admit(capture_per_second, isTaken, now) : budget.admitUnverified(now);
    if (typeof place === 'object') this.queue.remove(place);
    if (place !== true) counts.dropped.rate++;
    if (place === false) return null;
    if (!this.queue.hasRoom(intake.body.length)) {
      counts.dropped.queue++;
      return null;
    }
    const number = this.nextNumber(intake.receivedAt);
    const { schemes } = this.context.table();
    const record = makeRecord(number, intake, reply, {
      places: this.credentialPlaces(),
      schemes,
      now,
      replayOf,
    });
    const waiting = this.queue.add(record);
    if (isTaken && intake.authenticated) budget.addTaken(waiting);
    return idOf(number);
  }

  /** Resolves once all waiting requests are stored or dropped. */
  flush(): Promise<void> {
    return this.queue.flush();
  }

  async close(): Promise<void> {
    this.isClosed = true;
    await this.queue.close();
    await this.context.reader.end({ kind: 'close' });
  }

  private limits(): CaptureLimits {
    const { capture_days, capture_max_mb } = this.settings;
    const before = firstNumber(this.context.clock.now() - capture_days * DAY_MS);
    return { before, maxBytes: capture_max_mb * 2 ** 20 };
  }

  private get settings(): GatewayPlan {
    return this.context.table().gateway;
  }

  private budgetOf({ window }: LinkedRoute): CaptureBudget<WaitingRequest> {
    const budget = this.budgets.get(window) ?? new CaptureBudget<WaitingRequest>();
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
