/** Captures answered requests, without credentials, within the budgets of their routes. Responses do not wait for it. */
import type {
  CaptureMiss,
  CaptureRequest,
  CaptureStore,
  CaptureStoreContext,
  OpenCaptureStore,
} from '../../../../runtime/intake/keeper.ts';
import { ACCEPTED_OUTCOMES } from '../../../../runtime/intake/reply.ts';
import type { LinkedRoute } from '../../../../runtime/table/linked-table.ts';
import type { GatewayPlan, RouteTable } from '../../../../schemas/generated/types.ts';
import type { CaptureEngine, WaitingRequest } from './queue.ts';
import { CaptureQueue, fileEngine, sharedEngine } from './queue.ts';
import type { CredentialPlaces } from './record.ts';
import { credentialPlaces, makeRecord, missRecord } from './record.ts';
import { replayRequest, whyNotReplayable } from './replay.ts';
import type { CaptureLimits } from './requests.ts';
import { capturePath, createRequestIds, firstNumber, idOf } from './requests.ts';

/** Maximum number of requests without a valid signature that are captured per route and minute. */
const UNVERIFIED = 5;
const SECOND_MS = 1000;
const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

type CaptureContext = Omit<CaptureStoreContext, 'home' | 'rows'>;

/** Opens the captured requests of a service: in the database that gateways share, or in a file of the home. */
export const openKeeper: OpenCaptureStore = ({ home, rows, ...context }) =>
  new BudgetedCaptureStore(
    context,
    rows === null ? fileEngine(capturePath(home), context.log) : sharedEngine(rows, context.log),
  );

export class BudgetedCaptureStore implements CaptureStore {
  readonly counts = { kept: 0, dropped: { rate: 0, queue: 0, failed: 0 } };
  readonly requests: CaptureStore['requests'];
  readonly whyNotReplayable = whyNotReplayable;
  readonly replay = replayRequest;
  private readonly context: CaptureContext;
  private readonly engine: CaptureEngine;
  private readonly queue: CaptureQueue;
  private readonly nextNumber = createRequestIds();
  /** Keyed by the route's window, because it survives swaps of the table. */
  private readonly budgets = new WeakMap<LinkedRoute['window'], CaptureBudget>();
  private readonly misses = new CaptureBudget();
  private places: { readonly table: RouteTable; readonly places: CredentialPlaces } | null = null;
  private isClosed = false;

  constructor(context: CaptureContext, engine: CaptureEngine) {
    this.context = context;
    this.engine = engine;
    this.queue = new CaptureQueue({ ...context, engine, counts: this.counts }, () => this.limits());
    const { list, load } = engine.requests;
    this.requests = {
      list: async (...asked) => {
        await this.flush();
        return list(...asked);
      },
      load: async (id) => {
        await this.flush();
        return load(id);
      },
    };
  }

  readonly keep: CaptureRequest = (intake, reply, replayOf = null) => {
    const isTaken = ACCEPTED_OUTCOMES.has(reply.outcome);
    const { capture } = intake.route.plan;
    if (this.isClosed || capture === 'none' || (capture === 'problems' && isTaken)) return null;
    const { counts, context } = this;
    const { clock } = context;
    const now = clock.monotonic();
    const budget = this.budgetOf(intake.route);
    const { capture_per_second } = this.settings;
    // Those that a full window lets be read are few, and not every sender sends them again.
    const isSample = intake.authenticated && reply.outcome === 'rate_limited';
    const place =
      isSample || (intake.authenticated ? budget.admit(capture_per_second, isTaken, now) : budget.admitUnverified(now));
    if (typeof place === 'object') this.queue.remove(place);
    if (place !== true) counts.dropped.rate++;
    if (place === false) return null;
    if (!this.queue.hasRoom(intake.body.length)) {
      counts.dropped.queue++;
      return null;
    }
    const number = this.nextNumber(intake.receivedAt);
    const { schemes } = context.table();
    const about = { places: this.credentialPlaces(), schemes, now, replayOf };
    const waiting = this.queue.add(makeRecord(number, intake, reply, about));
    if (isTaken && intake.authenticated) budget.addTaken(waiting);
    return idOf(number);
  };

  readonly keepMiss: CaptureMiss = (request, nearest) => {
    const { clock } = this.context;
    if (this.isClosed || !this.misses.admitUnverified(clock.monotonic()) || !this.queue.hasRoom(0)) return;
    const at = clock.now();
    this.queue.add(missRecord(this.nextNumber(at), request, { places: this.credentialPlaces(), at, nearest }));
  };

  /** Resolves once all waiting requests are stored or dropped. */
  flush(): Promise<void> {
    return this.queue.flush();
  }

  async close(): Promise<void> {
    this.isClosed = true;
    await this.queue.close();
    await this.engine.close();
  }

  private limits(): CaptureLimits {
    const { capture_days, capture_max_mb } = this.settings;
    const before = firstNumber(this.context.clock.now() - capture_days * DAY_MS);
    return { before, maxBytes: capture_max_mb * 2 ** 20 };
  }

  private get settings(): GatewayPlan {
    return this.context.table().gateway;
  }

  private budgetOf({ window }: LinkedRoute): CaptureBudget {
    const budget = this.budgets.get(window) ?? new CaptureBudget();
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

/** The budget of one route. It prevents busy senders and outsiders from filling the file. */
class CaptureBudget {
  private second = Number.NEGATIVE_INFINITY;
  private used = 0;
  /** Records of accepted requests in this second. Rejected requests replace them. */
  private taken: WaitingRequest[] = [];
  private minute = Number.NEGATIVE_INFINITY;
  private unverified = 0;

  /** Whether another request without a valid signature is captured. @param now monotonic ms */
  admitUnverified(now: number): boolean {
    if (now - this.minute >= MINUTE_MS) {
      this.minute = now;
      this.unverified = 0;
    }
    this.unverified++;
    return this.unverified <= UNVERIFIED;
  }

  /**
   * Whether another request is captured. A record means that it replaces this record.
   * @param perSecond maximum for this route @param isTaken its event was accepted @param now monotonic ms
   */
  admit(perSecond: number, isTaken: boolean, now: number): boolean | WaitingRequest {
    if (now - this.second >= SECOND_MS) {
      this.second = now;
      this.used = 0;
      this.taken = [];
    }
    if (this.used < perSecond) {
      this.used++;
      return true;
    }
    if (isTaken) return false;
    for (let last = this.taken.pop(); last !== undefined; last = this.taken.pop()) if (!last.isGone) return last;
    return false;
  }

  /** Adds the record of an admitted request whose event was accepted. */
  addTaken(record: WaitingRequest): void {
    this.taken.push(record);
  }
}
