/**
 * Tells people of the deliveries that wait for them: a message for each, stored in the change that notes that it is told, and
 * the alert `approval` while something waits. What waits is in the store, so it does not matter who has stored it, or when.
 */

import type { Approvals, ApprovingContext, OpenApprovals } from '../../../runtime/dispatch/approving.ts';
import { alertMessage, renderReceivers } from '../../../runtime/dispatch/own-message.ts';
import type { Timer } from '../../../runtime/platform/clock.ts';
import type { WaitingDelivery } from '../../../runtime/store/queries.ts';
import { StoreUnavailable } from '../../../runtime/store/store.ts';
import { loadApproval } from './approvals.ts';
import { consoleUrl, noticeText, ownerOf } from './notice.ts';

/** How often it looks at what others have stored or answered, in ms. */
const TICK_MS = 5000;

export const openApprovals: OpenApprovals = (context) => new RunningApprovals(context);

class RunningApprovals implements Approvals {
  private readonly context: ApprovingContext;
  private timer: Timer | null = null;
  private working: Promise<void> = Promise.resolve();
  private isWorking = false;
  private hasChanged = false;
  private isClosed = false;
  /** What has raised its alert. */
  private seen = new Set<string>();

  constructor(context: ApprovingContext) {
    this.context = context;
    this.changed();
  }

  changed(): void {
    this.hasChanged = true;
    if (this.isWorking || this.isClosed) return;
    this.isWorking = true;
    this.working = this.work();
  }

  async close(): Promise<void> {
    this.isClosed = true;
    this.timer?.cancel();
    await this.working;
  }

  private async work(): Promise<void> {
    const { clock, log } = this.context;
    this.timer?.cancel();
    while (this.hasChanged && !this.isClosed) {
      this.hasChanged = false;
      await this.look().catch((error: unknown) => {
        // What is not told is told at the next look.
        if (!(error instanceof StoreUnavailable)) log.error({ err: error }, 'an approval could not be asked for');
      });
    }
    this.isWorking = false;
    if (!this.isClosed) this.timer = clock.after(TICK_MS, () => this.changed());
  }

  private async look(): Promise<void> {
    const waiting = await this.context.store.read({ kind: 'approvals' });
    this.alert(waiting);
    for (const row of waiting) if (row.waiting === 'new') await this.tell(row);
  }

  private alert(waiting: readonly WaitingDelivery[]): void {
    const { alerts } = this.context;
    const subjects = new Set(waiting.map(ownerOf));
    const now = new Set<string>();
    for (const row of waiting) {
      const waits = `${row.ref} ${row.index} ${row.since}`;
      now.add(waits);
      if (this.seen.has(waits)) continue;
      alerts.raise({ kind: 'approval', subject: ownerOf(row) }, 'hookwright approvals list shows what waits');
    }
    for (const { kind, subject } of alerts.lasting)
      if (kind === 'approval' && !subjects.has(subject)) alerts.clear({ kind, subject });
    this.seen = now;
  }

  private async tell(row: WaitingDelivery): Promise<void> {
    const { store, clock, ids, log, table, wake } = this.context;
    const { gateway } = table();
    const deliveries = renderReceivers(gateway.approvals?.deliver ?? [], table());
    if (deliveries.length === 0) return;
    const approval = await loadApproval(store, row);
    if (approval === null) return;
    const now = clock.now();
    const prompt = noticeText(approval, consoleUrl(gateway.console));
    const dispatch = alertMessage(ids, now, { profile: 'default', event: 'approval', prompt, deliveries });
    const { ref, index } = row;
    if (!(await store.write({ kind: 'tell_approval', ref, index, dispatch, now }))) return;
    log.info({ approval: approval.id, notice: dispatch.id }, 'an approval is asked for');
    wake();
  }
}
