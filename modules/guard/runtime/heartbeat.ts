/** Calls a dead man's switch while all is well. */
import type { GuardContext } from '../../../runtime/dispatch/context.ts';
import { StoreUnavailable } from '../../../runtime/store/contract.ts';

const TIMEOUT_MS = 10_000;
/** Work that was due this long ago is overdue, in ms: an agent may run for so long. */
const OVERDUE_MS = 900_000;

export class Heartbeat {
  private readonly context: GuardContext;
  /** Monotonic ms. */
  private dueAt = 0;
  private isSilent: string | null = null;

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
    const reason = (await this.problem()) ?? (await call(url));
    if (reason !== null && reason !== this.isSilent) log.warn({ reason }, 'no heartbeat');
    if (reason === null && this.isSilent !== null) log.info({}, 'the heartbeat goes on');
    this.isSilent = reason;
  }

  /** Why it is not well; null: it is. */
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
      if (error instanceof StoreUnavailable) return 'the store cannot be read';
      throw error;
    }
  }
}

/** Null: it was taken. The reason names no URL, which may be a secret. */
async function call(url: string): Promise<string | null> {
  try {
    const answer = await fetch(url, { redirect: 'manual', signal: AbortSignal.timeout(TIMEOUT_MS) });
    await answer.body?.cancel();
    return answer.ok ? null : `it was answered ${answer.status}`;
  } catch (error) {
    return error instanceof Error && error.name === 'TimeoutError'
      ? 'it was not answered in time'
      : 'it cannot be reached';
  }
}
