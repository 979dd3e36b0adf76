/**
 * What became of events, for their senders: each event has a URL that nobody can guess, and some senders wait for its end.
 *
 * The token of a URL is the id of the dispatch and its HMAC under a key of the installation, so nothing is stored for it, and a
 * wrong one is recognised without the store. A sender that waits costs a timer; the end of its event is told by the
 * observer, and in a shared store, whose other gateways may have the run, one query a second asks for all that wait.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { FindInstallation } from '../../../runtime/dispatch/installation.ts';
import { readAnswer } from '../../../runtime/dispatch/run-agent.ts';
import type { Clock, Timer } from '../../../runtime/platform/clock.ts';
import type { Logger } from '../../../runtime/platform/log.ts';
import type { StoredDispatch } from '../../../runtime/store/queries.ts';
import type { ShownState } from '../../../runtime/store/states.ts';
import { wasRejected } from '../../../runtime/store/states.ts';
import type { Store } from '../../../runtime/store/store.ts';
import { StoreUnavailable } from '../../../runtime/store/store.ts';
import type { RoutePlan } from '../../../schemas/generated/types.ts';

/** Most senders that wait at once, by far fewer than connections; more are answered at once. */
const MOST_WAITING = 128;
const POLL_MS = 1000;

export interface EventStatus {
  readonly state: Exclude<ShownState, 'skipped'>;
  readonly answer?: string;
}

export const isOver = ({ state }: EventStatus): boolean => state === 'done' || state === 'dead';

export interface StatusContext {
  readonly store: Pick<Store, 'read' | 'shared'>;
  readonly clock: Clock;
  readonly log: Logger;
  readonly key: FindInstallation;
}

/** Skipped: there was nothing to deliver, or no budget for the run, or a person has rejected it. */
const statusOf = (of: StoredDispatch): EventStatus['state'] =>
  of.state !== 'skipped' ? of.state : of.reason === 'budget' || wasRejected(of) ? 'dead' : 'done';

export class EventStatuses {
  private readonly context: StatusContext;
  /** What ends each wait, by the id of the dispatch. */
  private readonly waits = new Map<string, Set<() => void>>();
  private count = 0;
  private poll: Timer | null = null;
  private isReleased = false;

  constructor(context: StatusContext) {
    this.context = context;
  }

  /** Rejects with StoreUnavailable. @param id of the dispatch */
  async token(id: string): Promise<string> {
    const mac = createHmac('sha256', await this.context.key()).update(id, 'utf8');
    return `${id}.${mac.digest('base64url')}`;
  }

  /** The id of the dispatch; null for a token that was not made here. Rejects with StoreUnavailable. */
  async idOf(token: string): Promise<string | null> {
    const id = token.slice(0, token.indexOf('.'));
    const [right, given] = [Buffer.from(await this.token(id)), Buffer.from(token)];
    return right.length === given.length && timingSafeEqual(right, given) ? id : null;
  }

  /** Null: there is no such event of the route any more. Rejects with StoreUnavailable. */
  async read(id: string, { name, profile, status }: RoutePlan): Promise<EventStatus | null> {
    const found = await this.context.store.read({ kind: 'find', id });
    if (found.kind !== 'found') return null;
    const { dispatch } = found;
    if (dispatch.id !== id || dispatch.route !== name || dispatch.profile !== profile) return null;
    const state = statusOf(dispatch);
    const { answer } = dispatch;
    const isTold = state === 'done' && status?.answer === true && answer !== null;
    return isTold && readAnswer(answer).kind === 'answered' ? { state, answer } : { state };
  }

  /** Resolves when the dispatch has ended, after `ms`, or when the sender has gone; at once when too many wait. */
  wait(id: string, ms: number, onGone: (listener: () => void) => void): Promise<void> {
    if (this.isReleased || this.count >= MOST_WAITING) return Promise.resolve();
    return new Promise((resolve) => {
      const ends = this.waits.get(id) ?? new Set();
      const end = (): void => {
        if (!ends.delete(end)) return;
        if (ends.size === 0) this.waits.delete(id);
        this.count--;
        timer.cancel();
        resolve();
      };
      const timer = this.context.clock.after(ms, end);
      this.waits.set(id, ends.add(end));
      this.count++;
      onGone(end);
      this.pollShared();
    });
  }

  /** Call it when a dispatch has ended. */
  finished(id: string): void {
    for (const end of this.waits.get(id) ?? []) end();
  }

  /** Ends all waits: the server stops. */
  release(): void {
    this.isReleased = true;
    for (const id of [...this.waits.keys()]) this.finished(id);
    this.poll?.cancel();
  }

  private pollShared(): void {
    const { store, clock, log } = this.context;
    if (store.shared === null || this.poll !== null || this.count === 0) return;
    this.poll = clock.after(POLL_MS, async () => {
      try {
        for (const id of await store.read({ kind: 'ended', ids: [...this.waits.keys()] })) this.finished(id);
      } catch (error) {
        if (!(error instanceof StoreUnavailable)) log.error({ err: error }, 'cannot ask for events that have ended');
      }
      this.poll = null;
      this.pollShared();
    });
  }
}
