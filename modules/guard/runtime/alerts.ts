/**
 * Alerts: one message when a condition begins, at most one a day while it lasts, and one when it is resolved. A kind sends at most
 * 20 messages an hour: further conditions are one alert, whose only message tells their number, and an end waits for room.
 *
 *   raise ──> no row: stores row and message in one change ──> row: counts, and sends a daily summary ──> clear: deletes the row, sends the last message
 *
 * Active alerts are rows of the store, so they survive restarts and are shared by all gateways of a database. A row is replaced
 * only if it is unchanged since it was read; otherwise it is read again.
 */
import { isDeepStrictEqual } from 'node:util';
import { ALERT_KINDS, alertTitle } from '../../../base/names.ts';
import { realTarget } from '../../../base/spec-names.ts';
import { inertLines, utcTime } from '../../../base/text.ts';
import type { AlertCondition, GuardContext } from '../../../runtime/dispatch/context.ts';
import { alertMessage, renderReceivers } from '../../../runtime/dispatch/own-message.ts';
import { printableStart } from '../../../runtime/platform/log.ts';
import { StoreUnavailable } from '../../../runtime/store/contract.ts';
import { decodeOr, isCount, isInstant, isText } from '../../../runtime/store/decode.ts';
import { isFinal } from '../../../runtime/store/states.ts';
import type { LastingAlert } from '../../../schemas/built/operations/types.ts';
import type { Dispatch, RouteTable } from '../../../schemas/generated/types.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** How long an alert is stored after it was last raised, in ms: a sender may have named an address that is never used again. */
const RETENTION_MS = 30 * DAY_MS;
/** Minimum time between two updates of the count of an alert, in ms. */
const QUIET_MS = 10_000;
/** Most messages of a kind in an hour. */
const MOST_MESSAGES = 20;
/** The subject of the conditions of a kind that begin after its last message of the hour. */
export const FURTHER = 'further alerts';
/** What a stranger can begin and end at will: it ends only after an hour without a failure. */
const ENDS_WHEN_QUIET: ReadonlySet<LastingAlert['kind']> = new Set(['signature_failures', 'loop', 'rate_limited']);

interface Row extends LastingAlert {
  readonly told_at: number;
  /** Id of its last message; none: it had no receiver. */
  readonly message?: string;
}

interface StoredAlert {
  readonly row: Row;
  readonly body: string;
}

/** Changes of one alert that are not stored yet: how often it was raised, and whether it ends. */
interface PendingAlert {
  of: AlertCondition;
  count: number;
  reason: string;
  ends: boolean;
}

type Context = Pick<GuardContext, 'store' | 'clock' | 'ids' | 'log' | 'table' | 'wake'>;

export class Alerts {
  private readonly context: Context;
  private readonly stored = new Map<string, StoredAlert>();
  private readonly pending = new Map<string, PendingAlert>();
  private readonly clearedAt = new Map<string, number>();
  /** The messages about alerts that are no longer stored. */
  private past: Pick<Row, 'kind' | 'told_at'>[] = [];
  private working: Promise<void> = Promise.resolve();
  private isWorking = false;

  constructor(context: Context) {
    this.context = context;
  }

  get lasting(): readonly LastingAlert[] {
    return [...this.stored.values()].map(({ row: { told_at: _, message: __, ...alert } }) => alert);
  }

  /** True if the alert is active, or fewer than `most` alerts of its kind about its target are. */
  hasRoom(of: AlertCondition, most: number): boolean {
    const begun = [...this.lasting, ...Array.from(this.pending.values(), (pending) => pending.of)];
    const alike = begun.filter(({ kind, about }) => kind === of.kind && isDeepStrictEqual(about, of.about));
    const subjects = new Set(alike.map(({ subject }) => subject));
    return subjects.has(of.subject) || subjects.size < most;
  }

  /** True if the kind has sent fewer messages within the hour than it may. */
  private mayTell(kind: LastingAlert['kind']): boolean {
    const since = this.context.clock.now() - HOUR_MS;
    this.past = this.past.filter(({ told_at }) => told_at > since);
    const told = [...this.past, ...Array.from(this.stored.values(), ({ row }) => row)];
    const waiting = [...this.pending].filter(
      ([key, { of, ends }]) => of.kind === kind && (ends || !this.stored.has(key)),
    );
    return told.filter((one) => one.kind === kind && one.told_at > since).length + waiting.length < MOST_MESSAGES;
  }

  raise(of: AlertCondition, reason: string): void {
    const now = this.context.clock.now();
    if (this.context.table().gateway.alerts?.on.includes(of.kind) !== true || isPast(of, now)) return;
    const isOpen = this.stored.has(keyOf(of)) || this.pending.has(keyOf(of)) || of.subject === FURTHER;
    if (!isOpen && !this.mayTell(of.kind)) {
      const { until: _, ...further } = of;
      this.raise({ ...further, subject: FURTHER }, reason);
      return;
    }
    const key = keyOf(of);
    const pending = this.pending.get(key) ?? { of, count: 0, reason, ends: false };
    Object.assign(pending, { of, count: pending.count + 1, reason, ends: false });
    this.pending.set(key, pending);
    this.clearedAt.delete(key);
    const known = this.stored.get(key)?.row;
    if (known === undefined || now - known.last_at >= QUIET_MS || now - known.told_at >= DAY_MS) this.work();
  }

  /** Clears an alert that stands for several subjects once the last failure is an hour old. */
  clearWhenQuiet(of: AlertCondition): void {
    const lastAt = this.stored.get(keyOf(of))?.row.last_at;
    if (lastAt !== undefined && this.context.clock.now() - lastAt >= HOUR_MS) this.clear(of);
  }

  /** @param why shown in the message about its end */
  clear({ kind, subject }: Pick<AlertCondition, 'kind' | 'subject'>, why = ''): void {
    const key = keyOf({ kind, subject });
    const pending = this.pending.get(key);
    const isStored = this.stored.has(key);
    const mustWait = isStored && subject !== FURTHER && !this.mayTell(kind);
    if (mustWait || (pending === undefined && !isStored)) {
      // `refresh` clears it once there is room, or if another gateway has raised it.
      if (isStored || this.context.store.shared !== null) this.clearedAt.set(key, this.context.clock.now());
      return;
    }
    if (pending === undefined) this.pending.set(key, { of: { kind, subject }, count: 0, reason: why, ends: true });
    else pending.ends = true;
    this.work();
  }

  /** Reads the active alerts, clears those of other gateways that this one has seen end, and sends daily summaries. */
  async refresh(): Promise<void> {
    await this.read();
    const now = this.context.clock.now();
    for (const [key, { row }] of this.stored) {
      const cleared = this.clearedAt.get(key);
      const isOver = row.subject === FURTHER && now - row.since >= HOUR_MS;
      const isQuiet = ENDS_WHEN_QUIET.has(row.kind) && now - row.last_at >= HOUR_MS && !this.pending.has(key);
      if (isOver || isQuiet || isPast(row, now) || (cleared !== undefined && cleared >= row.last_at)) this.clear(row);
      if (this.isDue(row, now) && row.last_at > row.told_at && !this.pending.has(key))
        this.pending.set(key, { of: row, count: 0, reason: row.reason, ends: false });
    }
    for (const [key, at] of this.clearedAt) if (now - at > 60_000 && !this.stored.has(key)) this.clearedAt.delete(key);
    if (this.pending.size > 0) this.work();
  }

  /** Resolves when all pending changes are stored, or storing them has failed. */
  async settled(): Promise<void> {
    if (this.pending.size > 0) this.work();
    await this.working;
  }

  private work(): void {
    if (this.isWorking) return;
    this.isWorking = true;
    this.working = this.storeAll()
      .catch((error: unknown) => {
        // It stays pending, and the next refresh retries it.
        if (!(error instanceof StoreUnavailable)) this.context.log.error({ err: error }, 'could not store an alert');
      })
      .finally(() => {
        this.isWorking = false;
      });
  }

  private async storeAll(): Promise<void> {
    for (let [next] = this.pending; next !== undefined; [next] = this.pending) {
      const [key, pending] = next;
      const { count } = pending;
      if (!(await this.store(key, pending))) {
        await this.read();
        continue;
      }
      // It may have been raised again while it was stored.
      pending.count -= count;
      if (pending.count === 0) this.pending.delete(key);
    }
  }

  /** False: the row has changed since it was read. */
  private async store(key: string, { of, count, reason, ends }: PendingAlert): Promise<boolean> {
    const { store, clock, log, wake } = this.context;
    const now = clock.now();
    const before = this.stored.get(key) ?? null;
    if (before === null && count === 0) return true;
    if (ends && before !== null && (await this.isWaiting(before.row))) {
      this.clearedAt.set(key, now);
      return true;
    }
    const isBegun = before === null;
    const after = next(before?.row ?? null, of, count, reason, now);
    const isDue = !isBegun && this.isDue(after, now);
    const text = ends
      ? endText(after, now, count === 0 ? reason : '')
      : isBegun
        ? beginText(of, reason)
        : isDue
          ? summaryText(after)
          : null;
    // An alert that began and ended before it was stored sends only its first message; the one of further alerts only its last.
    const sent = !isBegun ? text : of.subject === FURTHER ? null : beginText(of, reason);
    const dispatch = sent === null ? null : this.message(sent, after, now);
    const row: Row =
      text === null ? after : { ...after, told_at: now, ...(dispatch === null ? {} : { message: dispatch.id }) };
    const body = ends ? null : JSON.stringify(row);
    const change = { expect: before?.body ?? null, body, expires_at: now + RETENTION_MS, dispatch, now };
    if (!(await store.write({ kind: 'put_guard', row: { kind: 'alert', key }, ...change }))) return false;
    if (body === null) this.past.push({ kind: of.kind, told_at: before?.row.told_at ?? 0 }, row);
    if (body === null) this.stored.delete(key);
    else this.stored.set(key, { row, body });
    if (dispatch !== null) wake();
    if (sent !== null) {
      const fields = { alert: of.kind, subject: of.subject, reason: after.reason };
      if (ends && !isBegun) log.info(fields, 'alert resolved');
      else log.error(dispatch === null ? { ...fields, sent: false } : fields, 'alert raised');
    }
    return true;
  }

  /** Whether its last message waits for a target that fails: an end that arrives first would be followed by a failure that is over. */
  private async isWaiting({ message }: Row): Promise<boolean> {
    if (message === undefined) return false;
    const found = await this.context.store.read({ kind: 'find', id: message });
    if (found.kind !== 'found' || isFinal(found.dispatch.state)) return false;
    const { steps } = found.dispatch;
    return steps.length > 0 && steps.every(({ outcome }) => outcome !== 'ok');
  }

  private isDue({ kind, told_at }: Row, now: number): boolean {
    return now - told_at >= DAY_MS && this.mayTell(kind);
  }

  private message(text: string, { about }: Row, now: number): Dispatch | null {
    const deliveries = receivers(this.context.table(), about);
    if (deliveries.length === 0) return null;
    return alertMessage(this.context.ids, now, { profile: 'default', event: 'alert', prompt: text, deliveries });
  }

  private async read(): Promise<void> {
    const rows = await this.context.store.read({ kind: 'guard_rows', of: 'alert' });
    this.stored.clear();
    for (const { key, body } of rows) {
      const row = decodeOr<Row | null>(body, isRow, null);
      if (row !== null) this.stored.set(key, { row, body });
    }
  }
}

const keyOf = ({ kind, subject }: Pick<AlertCondition, 'kind' | 'subject'>): string => JSON.stringify([kind, subject]);

const isPast = ({ until }: AlertCondition, now: number): boolean => until !== undefined && until <= now;

function next(row: Row | null, of: AlertCondition, count: number, reason: string, now: number): Row {
  if (row === null) return { count, ...of, since: now, last_at: now, told_at: now, reason };
  return count === 0 ? row : { ...row, last_at: now, count: of.count ?? row.count + count, reason };
}

function isRow(value: unknown): boolean {
  const row = (value ?? {}) as Partial<Row>;
  const { kind, subject, since, last_at, told_at, count, reason, until = 0, message = '' } = row;
  const isKnown = ALERT_KINDS.some((each) => each === kind) && [subject, reason, message].every(isText);
  return isKnown && [until, since, last_at, told_at].every(isInstant) && isCount(count);
}

/** Longest reason and subject, in UTF-16 units. */
const MOST_CHARS = 500;

/** A printable subject from a text that a sender may have chosen, such as an address. */
export const alertSubject = (text: string): string => printableStart(text, MOST_CHARS);

const cut = (text: string): string => (text.length > MOST_CHARS ? `${text.slice(0, MOST_CHARS - 1)}…` : text);
const times = (count: number): string => (count === 1 ? 'once' : `${count} times`);

export function beginText({ kind, subject }: AlertCondition, reason: string): string {
  return inertLines(`hookwright: ${alertTitle(kind)}`, subject, cut(reason));
}

export function summaryText({ kind, subject, since, count, reason }: LastingAlert): string {
  const lasts = `${times(count)} since ${utcTime(since)}; latest: ${cut(reason)}`;
  return inertLines(`hookwright: ongoing: ${alertTitle(kind)}`, subject, lasts);
}

export function endText({ kind, subject, since, count, reason }: LastingAlert, now: number, why = ''): string {
  const minutes = Math.max(1, Math.round((now - since) / 60_000));
  const lasted = `${times(count)} in ${minutes} min`;
  if (subject === FURTHER)
    return inertLines(`hookwright: ${alertTitle(kind)}`, subject, `${lasted}; latest: ${cut(reason)}`);
  return inertLines(`hookwright: resolved: ${alertTitle(kind)}`, subject, why === '' ? lasted : `${lasted}; ${why}`);
}

/** The alert targets, without the target that this alert is about, unless it is the only one: then the message waits. */
export function receivers(table: RouteTable, about: AlertCondition['about']): Dispatch['deliveries'] {
  const all = renderReceivers(table.gateway.alerts?.deliver ?? [], table);
  const others = all.filter(({ target }) => about?.profile !== 'default' || realTarget(about.target) !== target);
  return others.length > 0 ? others : all;
}
