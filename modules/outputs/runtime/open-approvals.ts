/**
 * Notifies people of deliveries that need approval: one message for each, stored in the same change that marks it as notified, and
 * the alert `approval` while any is pending. It reads pending deliveries from the store, so any gateway may have stored them.
 */

import { isOneMessage } from '../../../runtime/deliver/prepare-text.ts';
import type { Approvals, ApprovingContext, CallbackAnswer, OpenApprovals } from '../../../runtime/dispatch/context.ts';
import { alertMessage, renderReceivers } from '../../../runtime/dispatch/own-message.ts';
import type { Timer } from '../../../runtime/platform/clock.ts';
import { StoreUnavailable } from '../../../runtime/store/contract.ts';
import type { BlockedRow } from '../../../runtime/store/queries.ts';
import { blockedByApproval, loadApproval } from './approvals.ts';
import { ChatApprovals } from './chat-approvals.ts';
import { consoleUrl, noticeText, ownerOf } from './notice.ts';

/** Interval between checks for changes by other gateways, in ms. */
const TICK_MS = 5000;

export const openApprovals: OpenApprovals = (context) => new RunningApprovals(context);

class RunningApprovals implements Approvals {
  private readonly context: ApprovingContext;
  private readonly chats: ChatApprovals;
  private timer: Timer | null = null;
  private working: Promise<void> = Promise.resolve();
  private isWorking = false;
  private hasChanged = false;
  private isClosed = false;
  /** How many messages of each owner the alert has reported. */
  private reported: ReadonlyMap<string, number> = new Map();

  /** The deliveries that waited at the last check. */
  private before: readonly BlockedRow[] = [];

  constructor(context: ApprovingContext) {
    this.context = context;
    this.chats = new ChatApprovals(context);
    this.changed();
  }

  async answered(target: string, payload: unknown): Promise<CallbackAnswer> {
    const answer = await this.chats.answered(target, payload);
    if (answer.counts) this.changed();
    return answer;
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
    await this.chats.close();
  }

  private async work(): Promise<void> {
    const { clock } = this.context;
    this.timer?.cancel();
    while (this.hasChanged && !this.isClosed) {
      this.hasChanged = false;
      await this.check().catch(this.fail);
    }
    this.isWorking = false;
    if (!this.isClosed) this.timer = clock.after(TICK_MS, () => this.changed());
  }

  /** The next check retries. */
  private readonly fail = (error: unknown): void => {
    if (!(error instanceof StoreUnavailable)) this.context.log.error({ err: error }, 'could not request approval');
  };

  private async check(): Promise<void> {
    await this.chats.register();
    const waiting = await blockedByApproval(this.context.store);
    await this.alert(waiting);
    for (const row of waiting) if (row.told_at === null) await this.notify(row);
    await this.chats.showAnswers(waiting, this.fail);
  }

  private async alert(waiting: readonly BlockedRow[]): Promise<void> {
    const { alerts } = this.context;
    const counts = new Map<string, number>();
    for (const row of waiting) counts.set(ownerOf(row), (counts.get(ownerOf(row)) ?? 0) + 1);
    for (const [subject, count] of counts) {
      if (this.reported.get(subject) === count) continue;
      alerts.raise({ kind: 'approval', subject, count }, 'answer in the console, or with hookwright approvals');
    }
    for (const { kind, subject } of alerts.lasting)
      if (kind === 'approval' && !counts.has(subject)) alerts.clear({ kind, subject }, await this.answerTo(subject));
    this.reported = counts;
    this.before = waiting;
  }

  /** The answer to the last message of an owner, which no longer waits; empty if this gateway has not seen it wait. */
  private async answerTo(subject: string): Promise<string> {
    const row = this.before.findLast((each) => ownerOf(each) === subject);
    const approval = row === undefined ? null : await loadApproval(this.context.store, row, false);
    return approval === null ? '' : `${approval.state}${approval.answer === null ? '' : ` by ${approval.answer.by}`}`;
  }

  private async notify(row: BlockedRow): Promise<void> {
    const { store, clock, ids, log, table, wake } = this.context;
    const { gateway } = table();
    const deliveries = renderReceivers(gateway.approvals?.deliver ?? [], table());
    if (deliveries.length === 0) return;
    const approval = await loadApproval(store, row);
    if (approval === null) return;
    const now = clock.now();
    const prompt = noticeText(approval, consoleUrl(gateway.console), (text) =>
      deliveries.every(({ target }) => isOneMessage(table().targets[target], text)),
    );
    const { id } = approval;
    const asked = deliveries.map((one) => (this.chats.hasButtons(one.target) ? { ...one, approval: id } : one));
    const dispatch = alertMessage(ids, now, { profile: 'default', event: 'approval', prompt, deliveries: asked });
    const { ref, index, since, expires_at } = row;
    await this.chats.remember(dispatch, expires_at);
    const change = { change: 'tell_approval', ref, index, since, values: {}, dispatch, now };
    if (!(await store.write({ kind: 'change_delivery', ...change }))) return;
    log.info({ approval: id, notice: dispatch.id }, 'approval requested');
    wake();
  }
}
