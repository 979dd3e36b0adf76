/**
 * Shows the progress of events at the objects that caused them. An object has one mark: that of its newest event.
 *
 *   event or state ──> row of the object is stored ──> mark of the stored state is sent ──> final state: row is deleted
 *
 * The mark follows from the stored state of the dispatch, so a kill loses nothing, and states that pass quickly are not
 * sent. The rows (kind `progress` of `guard_state`) name the objects whose marks may be out of date. With a shared store, a row
 * also says which gateway is sending: no other one changes this mark at the same time.
 */
import { createHash, randomUUID } from 'node:crypto';
import { realTarget } from '../../../base/spec-names.ts';
import { targetLabel } from '../../../base/text.ts';
import type { DeliveryOutcome } from '../../../runtime/deliver/deliverer.ts';
import { failed } from '../../../runtime/deliver/deliverer.ts';
import type { OpenProgress, Progress, ProgressContext } from '../../../runtime/dispatch/context.ts';
import type { DispatchObserver, DispatchOwner } from '../../../runtime/dispatch/dispatcher.ts';
import { pacedWait, retryWait } from '../../../runtime/dispatch/retry-waits.ts';
import type { Timer } from '../../../runtime/platform/clock.ts';
import { StoreUnavailable } from '../../../runtime/store/contract.ts';
import { decodeOr, fieldsOf, isText } from '../../../runtime/store/decode.ts';
import type { StoredDispatch } from '../../../runtime/store/queries.ts';
import type { ShownState } from '../../../runtime/store/states.ts';
import { isFinal } from '../../../runtime/store/states.ts';
import { markerOf } from '../../../runtime/table/link-loop.ts';
import type { Dispatch, ProgressPlan } from '../../../schemas/generated/types.ts';

type ProgressState = keyof ProgressPlan['marks'];

/** Interval between checks for events that have ended elsewhere, and for marks that are due again, in ms. */
const TICK_MS = 5000;
const MOST_AT_ONCE = 8;
/** Maximum time to send a mark, and the time after which another gateway sends it, in ms. */
const SEND_MS = 45_000;
const LEASE_MS = 60_000;
/** How long a mark is retried, in ms. */
const RETENTION_MS = 7 * 86_400_000;
/** Maximum number of objects whose newest event is remembered after its end. */
const MOST_REMEMBERED = 10_000;
/** Longest address, in UTF-16 units. */
const LONGEST_ADDRESS = 2000;

/** The newest event of an object. `by`: the gateway that sends its mark until then. */
interface Row extends Pick<DispatchOwner, 'id' | 'profile' | 'route'> {
  readonly place: NonNullable<Dispatch['progress']>;
  readonly by?: string;
  readonly until?: number;
}

interface Mark {
  readonly key: string;
  row: Row;
  /** As stored; null: no row is stored. */
  body: string | null;
  /** The state that the object shows; null: unknown. */
  shown: ProgressState | null;
  failures: number;
  /** Unix ms before which it is not sent. */
  dueAt: number;
  /** Its changes of the store, one after the other. */
  saving: Promise<unknown>;
}

export const openProgress: OpenProgress = (context) => new RunningProgress(context);

class RunningProgress implements Progress {
  private readonly context: ProgressContext;
  private readonly by = randomUUID();
  /** By object; the latest change is the last. Those without a row are only remembered. */
  private readonly marks = new Map<string, Mark>();
  private readonly due = new Set<Mark>();
  private readonly sending = new Map<Mark, Promise<void>>();
  /** Targets whose last attempt has failed. */
  private readonly failing = new Set<string>();
  private readonly closing = new AbortController();
  private isRead = false;
  private timer: Timer | null = null;
  private ticking: Promise<void>;

  constructor(context: ProgressContext) {
    this.context = context;
    this.ticking = this.tick();
  }

  readonly observer: DispatchObserver = {
    moved: (owner) => this.follow(owner),
    finished: (owner) => this.follow(owner),
  };

  async close(): Promise<void> {
    this.closing.abort();
    this.timer?.cancel();
    await Promise.all([this.ticking, ...this.sending.values()]);
    await Promise.all(Array.from(this.marks.values(), ({ saving }) => saving));
  }

  private follow({ id, profile, route, progress: place }: DispatchOwner): void {
    if (place === undefined || this.closing.signal.aborted) return;
    if (JSON.stringify(place.extra).length > LONGEST_ADDRESS) return;
    const row = { id, profile, route, place };
    const key = this.keyOf(row);
    const mark = this.marks.get(key) ?? newMark(key, row, null);
    if (mark.row.id > id) return;
    const isKnown = mark.row.id === id && mark.body !== null;
    if (mark.row.id < id) Object.assign(mark, { row, ...UNKNOWN });
    this.remember(mark);
    if (!isKnown) void this.keep(mark).catch((error: unknown) => this.postpone(mark, error));
    this.wake(mark);
  }

  /** A reaction belongs to the object; statuses and comments also to the route. */
  private keyOf({ profile, route, place: { target, extra } }: Row): string {
    const { as } = this.context.table().targets[realTarget(target)]?.progress ?? {};
    const text = JSON.stringify([profile, target, extra, as === 'reaction' ? null : route]);
    return createHash('sha256').update(text).digest('hex');
  }

  private remember(mark: Mark): void {
    this.marks.delete(mark.key);
    this.marks.set(mark.key, mark);
    for (const { key, body } of this.marks.values()) {
      if (this.marks.size <= MOST_REMEMBERED) return;
      if (body === null && key !== mark.key) this.marks.delete(key);
    }
  }

  /** Stores that the mark belongs to this event, unless a newer one has it. */
  private async keep(mark: Mark): Promise<void> {
    const { row } = mark;
    const merge = (stored: Row | null): Row | undefined =>
      stored === null || stored.id < row.id ? { ...stored, ...row } : undefined;
    while (!(await this.put(mark, merge))) if ((readRow(mark.body)?.id ?? '') >= row.id) return;
  }

  /**
   * Changes the row. False: it was not changed, because another gateway has changed it, or `next` returns undefined.
   * @param next null: deletes the row
   */
  private put(mark: Mark, next: (stored: Row | null) => Row | null | undefined): Promise<boolean> {
    const { store, clock } = this.context;
    const change = async (): Promise<boolean> => {
      const row = next(readRow(mark.body));
      if (row === undefined) return false;
      const now = clock.now();
      const body = row === null ? null : JSON.stringify(row);
      const of = { row: { kind: 'progress', key: mark.key }, expires_at: now + RETENTION_MS, dispatch: null } as const;
      const isStored = await store.write({ kind: 'put_guard', ...of, expect: mark.body, body, now });
      mark.body = isStored ? body : ((await this.rows()).get(mark.key) ?? null);
      return isStored;
    };
    const changed = mark.saving.then(change);
    mark.saving = changed.catch(() => undefined);
    return changed;
  }

  private async rows(): Promise<ReadonlyMap<string, string>> {
    const rows = await this.context.store.read({ kind: 'guard_rows', of: 'progress' });
    return new Map(rows.map(({ key, body }) => [key, body]));
  }

  private wake(...marks: readonly Mark[]): void {
    for (const mark of marks) this.due.add(mark);
    for (const mark of this.due) {
      if (!this.isRead || this.sending.size >= MOST_AT_ONCE || this.closing.signal.aborted) return;
      if (this.sending.has(mark)) continue;
      this.due.delete(mark);
      const sent = this.bring(mark).catch((error: unknown) => this.postpone(mark, error));
      this.sending.set(
        mark,
        sent.then(() => {
          this.sending.delete(mark);
          this.wake();
        }),
      );
    }
  }

  /** Makes the mark show the stored state. */
  private async bring(mark: Mark): Promise<void> {
    const { store, clock } = this.context;
    await mark.saving;
    if (mark.dueAt > clock.now()) return;
    const { row } = mark;
    const found = await store.read({ kind: 'find', id: row.id });
    const drop = (): Promise<boolean> => this.put(mark, (stored) => (stored?.id === row.id ? null : undefined));
    if (found.kind !== 'found') return void (await drop());
    const state = progressOf(found.dispatch);
    if (state !== mark.shown) {
      if (!(await this.lease(mark))) return this.postpone(mark);
      const outcome = await this.send(row, state);
      const isOver = this.report(mark, row, outcome);
      if (outcome.kind !== 'ok') return isOver ? void (await drop()) : undefined;
      if (mark.row === row) mark.shown = state;
    }
    if (isFinal(found.dispatch.state)) await drop();
    else if (store.shared !== null) await this.put(mark, (stored) => stored && { ...stored, until: 0 });
  }

  /** False: another gateway is sending, or the store has the event of another one. */
  private async lease(mark: Mark): Promise<boolean> {
    const { store, clock } = this.context;
    if (store.shared === null) return true;
    const now = clock.now();
    return this.put(mark, (stored) => {
      const isNewest = (stored?.id ?? '') <= mark.row.id;
      const isFree = stored?.by === this.by || (stored?.until ?? 0) <= now;
      return isNewest && isFree ? { ...mark.row, by: this.by, until: now + LEASE_MS } : undefined;
    });
  }

  private async send({ id, profile, route, place }: Row, state: ProgressState): Promise<DeliveryOutcome> {
    const { deliverer, table, installation, clock, observer } = this.context;
    const { marks } = table().targets[realTarget(place.target)]?.progress ?? {};
    if (marks === undefined) return failed('permanent', 'the target does not show progress any more');
    const own = await installation();
    const started = clock.monotonic();
    const outcome = await deliverer.deliver({
      ...place,
      key: `${id}:${state}`,
      profile,
      route: route ?? '',
      delivery_id: id,
      text: marks[state].text ?? '',
      content: marks[state],
      marker: markerOf(own, id),
      series: JSON.stringify([own, 'progress', route]),
      sent: 0,
      first_attempt_at: null,
      mirror_to_session: false,
      signal: AbortSignal.any([this.closing.signal, AbortSignal.timeout(SEND_MS)]),
    });
    observer.attemptEnded?.(targetLabel(place), outcome.kind, Math.round(clock.monotonic() - started));
    return outcome;
  }

  /** Logs the first failure in a row of a target. True: the mark is not retried. */
  private report(mark: Mark, { id, route, place }: Row, outcome: DeliveryOutcome): boolean {
    const { log, clock } = this.context;
    const target = targetLabel(place);
    if (outcome.kind === 'ok') {
      mark.failures = 0;
      this.failing.delete(target);
      return false;
    }
    const { kind, reason, attempted, retry_after_ms: asked } = outcome;
    if (attempted && !this.failing.has(target) && !this.closing.signal.aborted) {
      this.failing.add(target);
      log.warn({ dispatch: id, route, target, reason }, 'could not show the progress of an event');
    }
    const wait = attempted ? retryWait(++mark.failures, asked, 0.5) : pacedWait(asked);
    mark.dueAt = clock.now() + wait;
    return kind === 'permanent' || kind === 'superseded';
  }

  private postpone(mark: Mark, error: unknown = null): void {
    const { clock, log } = this.context;
    mark.dueAt = clock.now() + TICK_MS;
    if (error !== null && !(error instanceof StoreUnavailable))
      log.error({ err: error, dispatch: mark.row.id }, 'internal error while showing the progress of an event');
  }

  /** Finds events that have ended without notice: another gateway or a person has ended them, or the gateway was killed. */
  private async tick(): Promise<void> {
    const { store, clock, log } = this.context;
    try {
      const isFirst = !this.isRead;
      if (isFirst || store.shared !== null) await this.read();
      this.isRead = true;
      const open = Array.from(this.marks.values()).filter(({ body }) => body !== null);
      const ids = open.map(({ row }) => row.id);
      const ended = new Set(ids.length === 0 ? [] : await store.read({ kind: 'ended', ids }));
      const isDue = ({ dueAt }: Mark): boolean => dueAt > 0 && dueAt <= clock.now();
      this.wake(...open.filter((mark) => isFirst || ended.has(mark.row.id) || isDue(mark)));
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) log.error({ err: error }, 'could not check the progress of events');
    }
    if (!this.closing.signal.aborted)
      this.timer = clock.after(TICK_MS, () => {
        this.ticking = this.tick();
      });
  }

  private async read(): Promise<void> {
    for (const [key, body] of await this.rows()) {
      const row = readRow(body);
      if (row === null) continue;
      const mark = this.marks.get(key) ?? newMark(key, row, body);
      if (mark.row.id < row.id) Object.assign(mark, { row, ...UNKNOWN });
      mark.body ??= body;
      this.remember(mark);
    }
  }
}

const UNKNOWN = { shown: null, failures: 0, dueAt: 0 };

const newMark = (key: string, row: Row, body: string | null): Mark => ({
  key,
  row,
  body,
  ...UNKNOWN,
  saving: Promise.resolve(),
});

const isRow = fieldsOf<Pick<Row, 'id' | 'profile' | 'place'>>({
  id: isText,
  profile: isText,
  place: fieldsOf<Pick<Row['place'], 'target' | 'extra'>>({
    target: isText,
    extra: (extra) => extra instanceof Object,
  }),
});

const readRow = (body: string | null): Row | null => (body === null ? null : decodeOr<Row | null>(body, isRow, null));

const SHOWN: Readonly<Record<ShownState, ProgressState>> = {
  pending: 'accepted',
  running: 'running',
  delivering: 'running',
  waiting: 'waiting',
  done: 'done',
  dead: 'failed',
  skipped: 'done',
};

/** Reasons of skipped events: another one replaces it, or it was not run. The agent of others had nothing to say. */
const SKIPPED: readonly (readonly [RegExp, ProgressState])[] = [
  [/^(?:superseded|merged)$|: superseded\b/, 'superseded'],
  [/^(?:budget|loop)$/, 'failed'],
];

function progressOf({ state, reason }: Pick<StoredDispatch, 'state' | 'reason'>): ProgressState {
  const skipped = state === 'skipped' ? SKIPPED.find(([form]) => form.test(reason ?? '')) : undefined;
  return skipped?.[1] ?? SHOWN[state];
}
