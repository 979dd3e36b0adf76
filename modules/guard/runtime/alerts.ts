/**
 * Alerts: one message when a condition begins, at most one a day while it goes on, one when it is over.
 *
 *   raise ──> no row: the row and the message, in one change ──> row: counted, after a day a summary ──> clear: no row, the last message
 *
 * A condition that ends by itself (`until`) and is raised with another end has begun anew.
 *
 * What lasts is in the store, so it holds over restarts and all gateways of a database: a row is replaced only if it is as it
 * was read, and otherwise read again.
 */
import { isDeepStrictEqual } from 'node:util';
import { ALERT_KINDS, alertTitle, realTarget } from '../../../base/names.ts';
import type { AlertCondition, GuardContext } from '../../../runtime/dispatch/context.ts';
import { alertMessage, renderReceivers } from '../../../runtime/dispatch/own-message.ts';
import { printableStart } from '../../../runtime/platform/log.ts';
import { StoreUnavailable } from '../../../runtime/store/contract.ts';
import { decodeOr, isCount, isInstant, isText } from '../../../runtime/store/decode.ts';
import type { LastingAlert } from '../../../schemas/built/operations/types.ts';
import type { Dispatch, RouteTable } from '../../../schemas/generated/types.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** How long what was not raised again is kept, in ms: a sender may have named an address that is never used again. */
const KEPT_MS = 30 * DAY_MS;
/** Least time between two counts of the same alert in the store, in ms. */
const QUIET_MS = 10_000;

interface Row extends LastingAlert {
  readonly told_at: number;
}

interface Kept {
  readonly row: Row;
  readonly body: string;
}

/** What is to be stored of one alert: further times that it was raised, then perhaps its end. */
interface Open {
  of: AlertCondition;
  count: number;
  reason: string;
  ends: boolean;
}

type Context = Pick<GuardContext, 'store' | 'clock' | 'ids' | 'log' | 'table' | 'wake'>;

export class Alerts {
  private readonly context: Context;
  private readonly kept = new Map<string, Kept>();
  private readonly open = new Map<string, Open>();
  private readonly clearedAt = new Map<string, number>();
  private working: Promise<void> = Promise.resolve();
  private isWorking = false;

  constructor(context: Context) {
    this.context = context;
  }

  get lasting(): readonly LastingAlert[] {
    return [...this.kept.values()].map(({ row: { told_at: _, ...alert } }) => alert);
  }

  /** Whether it has begun, or fewer than `most` of its kind about its target have. */
  hasRoom(of: AlertCondition, most: number): boolean {
    const begun = [...this.lasting, ...Array.from(this.open.values(), (open) => open.of)];
    const alike = begun.filter(({ kind, about }) => kind === of.kind && isDeepStrictEqual(about, of.about));
    const subjects = new Set(alike.map(({ subject }) => subject));
    return subjects.has(of.subject) || subjects.size < most;
  }

  raise(of: AlertCondition, reason: string): void {
    const now = this.context.clock.now();
    if (this.context.table().gateway.alerts?.on.includes(of.kind) !== true || isPast(of, now)) return;
    const key = keyOf(of);
    const open = this.open.get(key) ?? { of, count: 0, reason, ends: false };
    Object.assign(open, { of, count: open.count + 1, reason, ends: false });
    this.open.set(key, open);
    this.clearedAt.delete(key);
    const known = this.kept.get(key)?.row;
    const isTold = known !== undefined && !isAnew(of, known);
    if (!isTold || now - known.last_at >= QUIET_MS || now - known.told_at >= DAY_MS) this.work();
  }

  /** Of several things that fail by turns: ends it when the last failure was an hour ago. */
  clearWhenQuiet(of: AlertCondition): void {
    const lastAt = this.kept.get(keyOf(of))?.row.last_at;
    if (lastAt !== undefined && this.context.clock.now() - lastAt >= HOUR_MS) this.clear(of);
  }

  clear({ kind, subject }: Pick<AlertCondition, 'kind' | 'subject'>): void {
    const key = keyOf({ kind, subject });
    const open = this.open.get(key);
    if (open === undefined && !this.kept.has(key)) {
      // Another gateway may have begun it.
      if (this.context.store.shared !== null) this.clearedAt.set(key, this.context.clock.now());
      return;
    }
    if (open === undefined) this.open.set(key, { of: { kind, subject }, count: 0, reason: '', ends: true });
    else open.ends = true;
    this.work();
  }

  /** Reads what lasts, ends what another gateway has begun and this one has seen to be over, and tells what is a day old. */
  async refresh(): Promise<void> {
    await this.read();
    const now = this.context.clock.now();
    for (const [key, { row }] of this.kept) {
      const cleared = this.clearedAt.get(key);
      if (isPast(row, now) || (cleared !== undefined && cleared > row.last_at)) this.clear(row);
      if (now - row.told_at >= DAY_MS && row.last_at > row.told_at && !this.open.has(key))
        this.open.set(key, { of: row, count: 0, reason: row.reason, ends: false });
    }
    for (const [key, at] of this.clearedAt) if (now - at > 60_000) this.clearedAt.delete(key);
    if (this.open.size > 0) this.work();
  }

  /** Resolves when all that was raised is stored, or cannot be. */
  async settled(): Promise<void> {
    if (this.open.size > 0) this.work();
    await this.working;
  }

  private work(): void {
    if (this.isWorking) return;
    this.isWorking = true;
    this.working = this.storeAll()
      .catch((error: unknown) => {
        // It stays open, and is tried again with the next refresh.
        if (!(error instanceof StoreUnavailable))
          this.context.log.error({ err: error }, 'an alert could not be stored');
      })
      .finally(() => {
        this.isWorking = false;
      });
  }

  private async storeAll(): Promise<void> {
    for (let [next] = this.open; next !== undefined; [next] = this.open) {
      const [key, open] = next;
      const { count } = open;
      if (!(await this.store(key, open))) {
        await this.read();
        continue;
      }
      // More may have come meanwhile.
      open.count -= count;
      if (open.count === 0) this.open.delete(key);
    }
  }

  /** False: the row is another one by now. */
  private async store(key: string, { of, count, reason, ends }: Open): Promise<boolean> {
    const { store, clock, log, wake } = this.context;
    const now = clock.now();
    const before = this.kept.get(key) ?? null;
    if (before === null && count === 0) return true;
    const isBegun = before === null || (count > 0 && isAnew(of, before.row));
    const after = next(isBegun ? null : before.row, of, count, reason, now);
    const isDue = !isBegun && now - after.told_at >= DAY_MS;
    const text = ends ? endText(after, now) : isBegun ? beginText(of, reason) : isDue ? summaryText(after) : null;
    // What has begun and ended before it was stored is told once, as what it was.
    const told = ends && isBegun ? beginText(of, reason) : text;
    const dispatch = told === null ? null : this.message(told, after, now);
    const row: Row = text === null ? after : { ...after, told_at: now };
    const body = ends ? null : JSON.stringify(row);
    const change = { expect: before?.body ?? null, body, expires_at: now + KEPT_MS, dispatch, now };
    if (!(await store.write({ kind: 'put_guard', row: { kind: 'alert', key }, ...change }))) return false;
    if (body === null) this.kept.delete(key);
    else this.kept.set(key, { row, body });
    if (dispatch !== null) wake();
    if (told !== null) {
      const fields = { alert: of.kind, subject: of.subject, reason: after.reason };
      if (ends && !isBegun) log.info(fields, 'an alert is over');
      else log.error(dispatch === null ? { ...fields, sent: false } : fields, 'alert');
    }
    return true;
  }

  private message(text: string, { about }: Row, now: number): Dispatch | null {
    const deliveries = receivers(this.context.table(), about);
    if (deliveries.length === 0) return null;
    return alertMessage(this.context.ids, now, { profile: 'default', event: 'alert', prompt: text, deliveries });
  }

  private async read(): Promise<void> {
    const rows = await this.context.store.read({ kind: 'guard_rows', of: 'alert' });
    this.kept.clear();
    for (const { key, body } of rows) {
      const row = decodeOr<Row | null>(body, isRow, null);
      if (row !== null) this.kept.set(key, { row, body });
    }
  }
}

const keyOf = ({ kind, subject }: Pick<AlertCondition, 'kind' | 'subject'>): string => JSON.stringify([kind, subject]);

/** The one before was over when this one began. */
const isAnew = ({ until }: AlertCondition, { until: before }: Row): boolean => until !== undefined && until !== before;

const isPast = ({ until }: AlertCondition, now: number): boolean => until !== undefined && until <= now;

function next(row: Row | null, of: AlertCondition, count: number, reason: string, now: number): Row {
  if (row === null) return { ...of, since: now, last_at: now, told_at: now, count, reason };
  return count === 0 ? row : { ...row, last_at: now, count: row.count + count, reason };
}

function isRow(value: unknown): boolean {
  const { kind, subject, since, last_at, told_at, count, reason, until = 0 } = (value ?? {}) as Partial<Row>;
  const isKnown = ALERT_KINDS.some((each) => each === kind) && isText(subject) && isText(reason) && isInstant(until);
  return isKnown && isInstant(since) && isInstant(last_at) && isInstant(told_at) && isCount(count);
}

/** Longest reason and subject, in UTF-16 units. */
const MOST_CHARS = 500;

/** Of a text that a sender may have chosen, such as an address. */
export const alertSubject = (text: string): string => printableStart(text, MOST_CHARS);

const cut = (text: string): string => (text.length > MOST_CHARS ? `${text.slice(0, MOST_CHARS - 1)}…` : text);
const times = (count: number): string => (count === 1 ? 'once' : `${count} times`);

export function beginText({ kind, subject }: AlertCondition, reason: string): string {
  return `hookwright: ${alertTitle(kind)}: ${subject}\n${cut(reason)}`;
}

function summaryText({ kind, subject, since, count, reason }: LastingAlert): string {
  const begun = new Date(since).toISOString();
  return `hookwright: still, ${alertTitle(kind)}: ${subject}\n${times(count)} since ${begun}; the last: ${cut(reason)}`;
}

export function endText({ kind, subject, since, count }: LastingAlert, now: number): string {
  const minutes = Math.max(1, Math.round((now - since) / 60_000));
  return `hookwright: over, ${alertTitle(kind)}: ${subject}\n${times(count)} in ${minutes} min`;
}

/** Where alerts go, without the target that this one is about. */
export function receivers(table: RouteTable, about: AlertCondition['about']): Dispatch['deliveries'] {
  const all = renderReceivers(table.gateway.alerts?.deliver ?? [], table);
  return all.filter(({ target }) => about?.profile !== 'default' || realTarget(about.target) !== target);
}
