/** Sends the heartbeat to a monitoring URL while the gateway is healthy. */
import type { GuardContext } from '../../../runtime/dispatch/context.ts';
import { StoreUnavailable } from '../../../runtime/store/contract.ts';

const TIMEOUT_MS = 10_000;
/** After this time in ms, due work is overdue; an agent may run for this long. */
const OVERDUE_MS = 900_000;

export class Heartbeat {
  private readonly context: GuardContext;
  /** Monotonic ms. */
  private dueAt = 0;
  private lastReason: string | null = null;

  constructor(context: GuardContext) {
    this.context = context;
  }

  /** Call it every few seconds. Never rejects. */
  async beat(): Promise<void> {
    const { clock, log, table, heartbeatUrl } = this.context;
    const plan = table().gateway.heartbeat ?? null;
    const url = heartbeatUrl();
    if (plan === null || url === null || clock.monotonic() < this.dueAt) return;
    this.dueAt = clock.monotonic() + plan.every_seconds * 1000;
    const reason = (await this.problem()) ?? (await this.call(url));
    if (reason !== null && reason !== this.lastReason) log.warn({ reason }, 'heartbeat not sent');
    if (reason === null && this.lastReason !== null) log.info({}, 'heartbeat resumed');
    this.lastReason = reason;
  }

  /** Why the gateway is unhealthy; null if it is healthy. */
  private async problem(): Promise<string | null> {
    const { store, clock, state } = this.context;
    const { ready, overdueJob } = state();
    if (!ready) return 'the gateway is not ready';
    const before = clock.now() - OVERDUE_MS;
    if (overdueJob !== null && overdueJob < before) return 'a job is overdue';
    try {
      const due = await store.read({ kind: 'oldest_due', now: clock.now() });
      return due !== null && due < before ? 'work is overdue' : null;
    } catch (error) {
      if (error instanceof StoreUnavailable) return 'the store is unavailable';
      throw error;
    }
  }

  /** Null: success. The reason does not contain the URL, which may be a secret. */
  private async call(url: string): Promise<string | null> {
    try {
      const { request } = await import('undici');
      const dispatcher = await this.context.http.open();
      const { statusCode, body } = await request(url, { dispatcher, signal: AbortSignal.timeout(TIMEOUT_MS) });
      void body.dump();
      return statusCode >= 200 && statusCode < 300 ? null : `the heartbeat URL responded with ${statusCode}`;
    } catch (error) {
      return error instanceof Error && error.name === 'TimeoutError'
        ? 'the heartbeat URL did not respond in time'
        : 'the heartbeat URL is unreachable';
    }
  }
}
