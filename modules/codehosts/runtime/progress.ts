/**
 * Shows the progress of events at the objects that caused them. An object has one mark: that of its newest event.
 *
 *   event ──> its row is stored ──> mark of the stored state is sent, again after each change ──> final state: row is deleted
 *
 * The mark follows from the stored state of the dispatch, so a kill loses nothing, and states that pass quickly are not
 * sent. A row (kind `progress` of `guard_state`) has the id of an event, and names its object. Its mark may be out of date, or
 * an earlier event of the object has not ended.
 */
import { createHash } from 'node:crypto';
import { realTarget } from '../../../base/spec-names.ts';
import { targetLabel } from '../../../base/text.ts';
import type { DeliveryOutcome } from '../../../runtime/deliver/deliverer.ts';
import { failed } from '../../../runtime/deliver/deliverer.ts';
import type { OpenProgress, ProgressContext } from '../../../runtime/dispatch/context.ts';
import type { DispatchOwner } from '../../../runtime/dispatch/dispatcher.ts';
import { FIRST_ATTEMPT } from '../../../runtime/dispatch/own-message.ts';
import { retryWait } from '../../../runtime/dispatch/retry-waits.ts';
import type { Timer } from '../../../runtime/platform/clock.ts';
import { StoreUnavailable } from '../../../runtime/store/contract.ts';
import { decodeOr, isText } from '../../../runtime/store/decode.ts';
import type { StoredDispatch } from '../../../runtime/store/queries.ts';
import type { ShownState } from '../../../runtime/store/states.ts';
import { isFinal } from '../../../runtime/store/states.ts';
import { markerOf } from '../../../runtime/table/link-loop.ts';
import type { Dispatch, ProgressPlan } from '../../../schemas/generated/types.ts';

type ProgressState = keyof ProgressPlan['marks'];

/** Interval between checks for events that have ended without notice, and for marks that are due again, in ms. */
const TICK_MS = 5000;
/** Number of marks sent at once. An object has its lane, in which its marks are sent one after the other. */
const LANES = 8;
const SEND_MS = 45_000;
/** How long a row is stored, in ms. */
const RETENTION_MS = 7 * 86_400_000;
/** Maximum number of objects whose newest event is remembered after its end. */
const MOST_REMEMBERED = 10_000;

/** An object and its newest event. */
interface Mark {
  readonly id: string;
  /** The state that the object shows; null: unknown. */
  shown: ProgressState | null;
  /** Failed attempts in a row, and the Unix ms before which there is no other. */
  failures: number;
  dueAt: number;
  /** Ids of events of the object that have a row. */
  readonly rows: Set<string>;
}

export const openProgress: OpenProgress = (context) => new RunningProgress(context);

class RunningProgress {
  private readonly context: ProgressContext;
  /** By object. Those without a row are only remembered. */
  private readonly marks = new Map<string, Mark>();
  private readonly lanes: Promise<void>[] = Array.from({ length: LANES }, async () => undefined);
  /** Resolves when all rows so far are stored. */
  private saving: Promise<unknown> = Promise.resolve();
  /** Targets whose last attempt has failed. */
  private readonly failing = new Set<string>();
  private readonly closing = new AbortController();
  private isRead = false;
  private timer: Timer | null = null;
  private ticking: Promise<void>;

  constructor(context: ProgressContext) {
    this.context = context;
    const follow = (owner: DispatchOwner): void => this.follow(owner);
    context.observers.add({ moved: follow, finished: follow });
    this.ticking = this.tick();
  }

  async close(): Promise<void> {
    this.closing.abort();
    this.timer?.cancel();
    await Promise.all([this.ticking, this.saving, ...this.lanes]);
  }

  private follow({ id, profile, progress: place }: DispatchOwner): void {
    if (place === undefined) return;
    const address = JSON.stringify([profile, place.target, place.extra]);
    const object = createHash('sha256').update(address).digest('hex');
    const mark = this.markOf(object, id);
    if (mark.id !== id) return;
    if (!mark.rows.has(id)) {
      mark.rows.add(id);
      this.saving = Promise.all([this.saving, this.put(id, null, JSON.stringify(object)).catch(this.fail)]);
    }
    this.wake(object);
  }

  /** The mark of the object, which may be that of a newer event. */
  private markOf(object: string, id: string): Mark {
    const known = this.marks.get(object);
    if (known !== undefined && known.id >= id) return known;
    const mark = { id, shown: null, failures: 0, dueAt: 0, rows: known?.rows ?? new Set<string>() };
    this.marks.delete(object);
    this.marks.set(object, mark);
    for (const [each, { rows }] of this.marks)
      if (this.marks.size > MOST_REMEMBERED && rows.size === 0) this.marks.delete(each);
    return mark;
  }

  /** Stores or deletes the row of an event. */
  private put(key: string, expect: string | null, body: string | null): Promise<boolean> {
    const { store, clock } = this.context;
    const [now, row] = [clock.now(), { kind: 'progress', key } as const];
    const expires_at = now + RETENTION_MS;
    return store.write({ kind: 'put_guard', row, expect, body, expires_at, dispatch: null, now });
  }

  /** Finds the rows of earlier processes and other gateways. */
  private async read(): Promise<void> {
    const { store } = this.context;
    await this.saving;
    const known = Array.from(this.marks.values()).flatMap(({ rows }) => Array.from(rows, (id) => ({ rows, id })));
    const stored = await store.read({ kind: 'guard_rows', of: 'progress' });
    const ids = new Set(stored.map(({ key }) => key));
    for (const { rows, id } of known) if (!ids.has(id)) rows.delete(id);
    for (const { key: id, body } of stored) this.markOf(decodeOr(body, isText, ''), id).rows.add(id);
  }

  private wake(object: string): void {
    const lane = Number.parseInt(object.slice(0, 1), 16) % LANES;
    this.lanes[lane] = this.lanes[lane]?.then(() => this.bring(object)).catch(this.fail) ?? Promise.resolve();
  }

  /** Makes the object show the stored state of its newest event. */
  private async bring(object: string): Promise<void> {
    const { store, clock } = this.context;
    if (this.closing.signal.aborted) return;
    if (store.shared !== null) await this.read();
    const mark = this.marks.get(object);
    if (mark === undefined || mark.rows.size === 0 || mark.dueAt > clock.now()) return;
    const found = await store.read({ kind: 'find', id: mark.id });
    const stored = found.kind === 'found' ? found.dispatch : null;
    const state = stored === null ? mark.shown : progressOf(stored);
    if (stored !== null && state !== null && state !== mark.shown) {
      const outcome = await this.send(stored.dispatch, state);
      if (this.isPostponed(mark, stored.dispatch, outcome)) return;
      mark.shown = state;
      if (store.shared !== null) await this.read();
    }
    if (this.marks.get(object) !== mark) this.wake(object);
    await this.saving;
    const rows = [...mark.rows].sort();
    const over = await store.read({ kind: 'ended', ids: rows.filter((id) => id < mark.id) });
    // It stays until the earlier ones have ended, so that none of them replaces its mark after a restart.
    const isOver = over.length === rows.length - 1 && (stored === null || isFinal(stored.state));
    for (const id of isOver ? rows : over) {
      mark.rows.delete(id);
      await this.put(id, JSON.stringify(object), null);
    }
  }

  private async send(
    { id, profile, route, progress: place }: Dispatch,
    state: ProgressState,
  ): Promise<DeliveryOutcome> {
    const { deliverer, table, installation, clock, observers } = this.context;
    const { marks } = table().targets[realTarget(place?.target ?? '')]?.progress ?? {};
    if (marks === undefined || place === undefined) return failed('permanent', 'the target shows no progress any more');
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
      series: `${own} progress`,
      ...FIRST_ATTEMPT,
      signal: AbortSignal.any([this.closing.signal, AbortSignal.timeout(SEND_MS)]),
    });
    observers.all.attemptEnded?.(targetLabel(place), outcome.kind, Math.round(clock.monotonic() - started));
    return outcome;
  }

  /** Logs the first failure in a row of a target. A refused mark is not sent again. */
  private isPostponed(mark: Mark, { id, route, progress }: Dispatch, outcome: DeliveryOutcome): boolean {
    const target = progress === undefined ? '' : targetLabel(progress);
    mark.dueAt = 0;
    if (outcome.kind === 'ok') {
      mark.failures = 0;
      this.failing.delete(target);
      return false;
    }
    const { kind, reason, attempted, retry_after_ms: asked } = outcome;
    if (attempted && !this.failing.has(target) && !this.closing.signal.aborted) {
      this.failing.add(target);
      this.context.log.warn({ dispatch: id, route, target, reason }, 'could not show the progress of an event');
    }
    if (kind === 'permanent') return false;
    mark.dueAt = this.context.clock.now() + retryWait(attempted ? ++mark.failures : 1, asked, 0.5);
    return true;
  }

  /** The next change or check of the object retries. */
  private readonly fail = (error: unknown): void => {
    if (!(error instanceof StoreUnavailable))
      this.context.log.error({ err: error }, 'internal error while showing the progress of events');
  };

  /** Finds events that have ended without notice: by a person, by another gateway, or before the gateway was killed. */
  private async tick(): Promise<void> {
    const { store, clock } = this.context;
    try {
      if (!this.isRead || store.shared !== null) await this.read();
      const open = Array.from(this.marks).filter(([, { rows }]) => rows.size > 0);
      const ids = open.flatMap(([, { rows }]) => [...rows]);
      const ended = new Set(ids.length === 0 ? [] : await store.read({ kind: 'ended', ids }));
      const isFirst = !this.isRead;
      this.isRead = true;
      for (const [object, { rows, dueAt }] of open)
        if (isFirst || [...rows].some((id) => ended.has(id)) || (dueAt > 0 && dueAt <= clock.now())) this.wake(object);
    } catch (error) {
      this.fail(error);
    }
    if (this.closing.signal.aborted) return;
    this.timer = clock.after(TICK_MS, () => {
      this.ticking = this.tick();
    });
  }
}

const SHOWN: Readonly<Record<ShownState, ProgressState>> = {
  pending: 'accepted',
  running: 'running',
  delivering: 'running',
  waiting: 'waiting',
  done: 'done',
  dead: 'failed',
  skipped: 'done',
};

/** The agent of a skipped event had nothing to say, or another event replaces it, or a limit has kept it from running. */
function progressOf({ state, reason }: Pick<StoredDispatch, 'state' | 'reason'>): ProgressState {
  if (state !== 'skipped' || reason === null) return SHOWN[state];
  if (/^(?:superseded|merged)\b|: superseded\b/.test(reason)) return 'superseded';
  return /^(?:budget|loop)$|(?:^|: )not_approved\b/.test(reason) ? 'failed' : SHOWN[state];
}
