/**
 * Notifies people of deliveries that need approval: one message for each, stored in the same change that marks it as notified, and
 * the alert `approval` while any is pending. It reads pending deliveries from the store, so any gateway may have stored them.
 */

import { hostname } from 'node:os';
import { isWildcard, listenUrl } from '../../../base/net.ts';
import { codeBlock, escapeInvisible, escapeInvisibleInLines, invisibleNote, utcTime } from '../../../base/text.ts';
import { isOneMessage } from '../../../runtime/deliver/prepare-text.ts';
import type { Approvals, ApprovingContext, OpenApprovals } from '../../../runtime/dispatch/context.ts';
import { alertMessage, renderReceivers } from '../../../runtime/dispatch/own-message.ts';
import type { Timer } from '../../../runtime/platform/clock.ts';
import { StoreUnavailable } from '../../../runtime/store/contract.ts';
import type { BlockedRow } from '../../../runtime/store/queries.ts';
import type { Approval } from '../../../schemas/built/operations/types.ts';
import type { ConsolePlan } from '../../../schemas/generated/types.ts';
import { blockedByApproval, loadApproval, receiverOf } from './approvals.ts';

/** Interval between checks for changes by other gateways, in ms. */
const TICK_MS = 5000;

export const openApprovals: OpenApprovals = (context) => new RunningApprovals(context);

class RunningApprovals implements Approvals {
  private readonly context: ApprovingContext;
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
      await this.notifyPending().catch((error: unknown) => {
        // The next check retries.
        if (!(error instanceof StoreUnavailable)) log.error({ err: error }, 'could not request approval');
      });
    }
    this.isWorking = false;
    if (!this.isClosed) this.timer = clock.after(TICK_MS, () => this.changed());
  }

  private async notifyPending(): Promise<void> {
    const waiting = await blockedByApproval(this.context.store);
    await this.alert(waiting);
    for (const row of waiting) if (row.told_at === null) await this.notify(row);
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
    const dispatch = alertMessage(ids, now, { profile: 'default', event: 'approval', prompt, deliveries });
    const { ref, index, since } = row;
    const change = { change: 'tell_approval', ref, index, since, values: {}, dispatch, now };
    if (!(await store.write({ kind: 'change_delivery', ...change }))) return;
    log.info({ approval: approval.id, notice: dispatch.id }, 'approval requested');
    wake();
  }
}

/** Prefixes each line with `>`, so that no line of the message looks like one of the gateway where code blocks are not shown. */
const quoted = (text: string): string =>
  text
    .split(/\r?\n/)
    .map((line) => `> ${line}`)
    .join('\n');

/**
 * What a stranger may have chosen is in code blocks. A notice is one message: the blocks are cut.
 * @param console URL of the console; null: no console @param fits whether every receiver gets it as one message
 */
export function noticeText(
  approval: Approval,
  console: string | null,
  fits: (notice: string) => boolean = () => true,
): string {
  let notice = noticeOf(approval, console, Number.POSITIVE_INFINITY);
  for (let room = MOST_SHOWN; room > 0 && !fits(notice); room = Math.floor(room * 0.8))
    notice = noticeOf(approval, console, room);
  return notice;
}

/** No target takes a longer message. */
const MOST_SHOWN = 100_000;

/** @param room for the blocks, in UTF-16 units */
function noticeOf(approval: Approval, console: string | null, room: number): string {
  const { id, text, content, expires_at } = approval;
  const fields = Object.entries(content).map(([name, value]) => `${name}: ${JSON.stringify(value)}`);
  const until = expires_at === null ? [] : [`expires ${utcTime(expires_at)}`];
  const note = invisibleNote([text, ...fields].join('\n'));
  // In another block than the text, whose lines could look like fields.
  const to = [`to ${receiverOf(approval)}`, ...fields.map((field) => `with ${field}`)].map(escapeInvisible).join('\n');
  const [shownTo, shown] = [to.slice(0, room), text.slice(0, Math.max(0, room - to.length))];
  const isCut = shownTo !== to || shown !== text;
  const total = `too long for this message: ${text.length} characters, of which ${shown.length} are shown; all: `;
  const page = console === null ? [] : [`${console}/#/approvals/${id}`];
  return [
    `hookwright: a message of ${ownerOf(approval)} needs your approval`,
    codeBlock(shownTo),
    ...until,
    ...(note === null ? [] : [note]),
    ...(text.includes('```') ? ['\\u0060 in the text stands for a backtick'] : []),
    ...(shown === '' ? [] : [codeBlock(quoted(escapeInvisibleInLines(shown)))]),
    ...(isCut ? [total + (page[0] ?? `hookwright approvals show ${id}`)] : []),
    `hookwright approvals approve ${id}`,
    `hookwright approvals reject ${id}`,
    ...page,
  ].join('\n');
}

/** The display name of the owner; also the subject of its alert, so it must be stable. */
export function ownerOf({ profile, route, job }: Pick<Approval, 'profile' | 'route' | 'job'>): string {
  const owner = job === null ? `route ${route ?? ''}` : `job ${job}`;
  return profile === 'default' ? owner : `${owner} (profile ${profile})`;
}

/** The URL for people: a wildcard address is replaced with the host name. */
export function consoleUrl(plan: ConsolePlan | null): string | null {
  if (plan === null) return null;
  return listenUrl(isWildcard(plan.host) ? hostname() : plan.host, plan.port);
}
