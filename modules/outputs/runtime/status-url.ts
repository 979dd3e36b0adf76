/** Implements the `status_url` of events, and responses that wait for the outcome. */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { orRefused } from '../../../runtime/dispatch/dispatcher.ts';
import type { FindInstallation } from '../../../runtime/dispatch/own-message.ts';
import { findStored } from '../../../runtime/dispatch/own-message.ts';
import { readAnswer } from '../../../runtime/dispatch/run-agent.ts';
import type { Intake, OpenStatuses } from '../../../runtime/intake/intake.ts';
import type { Reply, Subject } from '../../../runtime/intake/reply.ts';
import { accepted, jsonReply, retryLater } from '../../../runtime/intake/reply.ts';
import { answeredEvent, refuse } from '../../../runtime/intake/stages/decide.ts';
import type { IntakeRequest } from '../../../runtime/intake/unverified-bodies.ts';
import type { Clock, Timer } from '../../../runtime/platform/clock.ts';
import type { Logger } from '../../../runtime/platform/log.ts';
import type { Store } from '../../../runtime/store/contract.ts';
import { StoreUnavailable } from '../../../runtime/store/contract.ts';
import type { StoredDispatch } from '../../../runtime/store/queries.ts';
import type { ShownState } from '../../../runtime/store/states.ts';
import { wasRejected } from '../../../runtime/store/states.ts';
import { shownOutputs } from '../../../runtime/store/timeline.ts';
import type { LinkedRoute } from '../../../runtime/table/linked-table.ts';
import { RateWindows } from '../../../runtime/table/rate-limit.ts';
import type { RoutePlan } from '../../../schemas/generated/types.ts';

export const openStatuses: OpenStatuses = (context) => {
  const { store, clock } = context;
  const statuses = new EventStatuses({ ...context, key: findStatusKey(store) });
  const windows = new RateWindows();
  return {
    async accept(intake, dispatch) {
      // First, so that no event is accepted without its URL.
      const token = await orRefused(statuses.token(intake.dispatch?.id ?? ''));
      if (typeof token !== 'string') return refuse(intake, token);
      const reply = await dispatch();
      return reply.outcome === 'accepted' ? answerWithStatus(intake, answeredEvent(intake), statuses, token) : reply;
    },
    find: (request, path, findRoute) => askStatus(request, path, { findRoute, statuses, clock, windows }),
    finished: (id) => statuses.finished(id),
    release: () => statuses.release(),
  };
};

const isStatusKey = (value: unknown): value is string => typeof value === 'string' && /^[0-9a-f]{64}$/.test(value);

/** The key of status URLs, 64 hexadecimal digits: the same for all gateways of a store. */
const findStatusKey = (store: Pick<Store, 'read' | 'write'>): FindInstallation =>
  findStored(store, 'status_key', isStatusKey, () => randomBytes(32).toString('hex'));

/** The path of a route, followed by the status path. */
const PATH = /^(\/.+)\/status\/([a-z0-9]{1,64}\.[A-Za-z0-9_-]{43})$/;
/** Longest wait of a sender, in seconds. */
const LONGEST_WAIT = 60;

/** The preferred wait of a request (RFC 7240), in seconds, at most 60; 0 without one. */
export function preferredWait(prefer: string | readonly string[] | undefined): number {
  const [, seconds] = /(?:^|[,;])\s*wait\s*=\s*"?(\d{1,9})"?\s*(?:$|[,;])/i.exec(String(prefer ?? '')) ?? [];
  return Math.min(LONGEST_WAIT, Number(seconds ?? 0));
}

/** The response to an accepted event: its `status_url`, and its outcome if the sender waits and it ends in time. */
async function answerWithStatus(
  intake: Intake,
  subject: Subject,
  statuses: EventStatuses,
  token: string,
): Promise<Reply> {
  const { route, request, response, dispatch, url } = intake;
  const own = (route.plan.public_url ?? url).replace(/[?#].*$/s, '').replace(/\/+$/, '');
  const more = { status_url: `${own}/status/${token}` };
  intake.statusUrl = more.status_url;
  // A batch is answered at once.
  const seconds = intake.partOf === null ? preferredWait(request.headers.prefer) : 0;
  if (seconds === 0 || dispatch === null) return accepted(subject, more);
  await statuses.wait(dispatch.id, seconds * 1000, (gone) => response.once('close', gone));
  const status = await readOr(statuses, dispatch.id, route);
  if (status === null || !isOver(status)) return accepted(subject, more);
  return accepted(subject, { ...more, ...status }, 200, ['Preference-Applied', `wait=${seconds}`]);
}

/** Null while the store is unavailable; the event is accepted anyway. */
async function readOr(statuses: EventStatuses, id: string, { plan }: LinkedRoute): Promise<EventStatus | null> {
  try {
    return await statuses.read(id, plan);
  } catch (error) {
    if (error instanceof StoreUnavailable) return null;
    throw error;
  }
}

interface StatusReader {
  readonly findRoute: (path: string) => LinkedRoute | undefined;
  readonly statuses: EventStatuses;
  readonly clock: Clock;
  /** Rate limits of status requests, separate from those of events. */
  readonly windows: RateWindows;
}

/** Handles `GET <status_url>`; null if the path is not the status URL of an event. */
async function askStatus({ method }: IntakeRequest, path: string, from: StatusReader): Promise<Reply | null> {
  const [, at = '', token = ''] = PATH.exec(path) ?? [];
  // A route answers with and without a slash at the end, its events only under the URL that was given.
  if (token === '' || at.endsWith('/') || (method !== 'GET' && method !== 'HEAD')) return null;
  const plan = from.findRoute(at)?.plan;
  if (plan?.status === undefined) return null;
  try {
    const id = await from.statuses.idOf(token);
    if (id === null) return null;
    const wait = await from.windows.of(plan.profile, plan.name).take(plan.rate_limit, from.clock.monotonic());
    if (wait > 0) return retryLater('rate_limited', wait);
    const status = await from.statuses.read(id, plan);
    return status === null ? null : jsonReply(200, 'document', status, ['Cache-Control', 'no-store']);
  } catch (error) {
    if (error instanceof StoreUnavailable) return retryLater('overloaded', 5);
    throw error;
  }
}

/*
 * The outcome of events, for their senders: each event has an unguessable URL, and some senders wait for the outcome.
 *
 * The token of a URL is the id of the dispatch with its HMAC under a key of the installation. So tokens are not stored, and a wrong
 * one is rejected without the store. A waiting sender costs one timer. The observer reports the end of an event; in a shared
 * store, where another gateway may run it, one query a second checks all waiting events.
 */

/** Most waiting senders, far fewer than connections; further ones get their response at once. */
const MOST_WAITING = 128;
const POLL_MS = 1000;

export interface EventStatus {
  readonly state: Exclude<ShownState, 'skipped'>;
  readonly answer?: string;
  /** Delivered outputs, with their texts if the route shows answers. */
  readonly outputs?: readonly { readonly output: string; readonly text?: string }[];
  /** Why each of the other outputs was dropped. */
  readonly dropped?: readonly string[];
}

export const isOver = ({ state }: EventStatus): boolean => state === 'done' || state === 'dead';

export interface StatusContext {
  readonly store: Pick<Store, 'read' | 'shared'>;
  readonly clock: Clock;
  readonly log: Logger;
  readonly key: FindInstallation;
}

/** A skipped dispatch is `dead` if its budget was used up or a person rejected it, and `done` if there was nothing to deliver. */
const statusOf = (of: StoredDispatch): EventStatus['state'] =>
  of.state !== 'skipped' ? of.state : of.reason === 'budget' || wasRejected(of) ? 'dead' : 'done';

function outputsOf(of: StoredDispatch, withText: boolean): Pick<EventStatus, 'outputs' | 'dropped'> {
  const delivered = shownOutputs(of).filter((output) => output.delivered);
  const outputs = delivered.map(({ name, text }) => ({ output: name, ...(withText && text !== '' ? { text } : {}) }));
  const dropped = (of.dispatch.dropped ?? []).map(({ reason }) => reason);
  return { ...(outputs.length === 0 ? {} : { outputs }), ...(dropped.length === 0 ? {} : { dropped }) };
}

export class EventStatuses {
  private readonly context: StatusContext;
  /** Functions that end a wait, by the id of the dispatch. */
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

  /** The id of the dispatch; null for an invalid token. Rejects with StoreUnavailable. */
  async idOf(token: string): Promise<string | null> {
    const id = token.slice(0, token.indexOf('.'));
    const [expected, actual] = [Buffer.from(await this.token(id)), Buffer.from(token)];
    return expected.length === actual.length && timingSafeEqual(expected, actual) ? id : null;
  }

  /** Null: the route has no such event, or it was deleted. Rejects with StoreUnavailable. */
  async read(id: string, { name, profile, status }: RoutePlan): Promise<EventStatus | null> {
    const found = await this.context.store.read({ kind: 'find', id });
    if (found.kind !== 'found') return null;
    const { dispatch } = found;
    if (dispatch.id !== id || dispatch.route !== name || dispatch.profile !== profile) return null;
    const state = statusOf(dispatch);
    const { answer } = dispatch;
    const shows = status?.answer === true;
    const hasAnswer = state === 'done' && shows && answer !== null && readAnswer(answer).kind === 'answered';
    return { state, ...(hasAnswer ? { answer } : {}), ...outputsOf(dispatch, shows) };
  }

  /** Resolves when the dispatch has ended, after `ms`, or when the sender disconnects; at once if too many senders wait. */
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

  /** Ends the waits for a dispatch that has ended. */
  finished(id: string): void {
    for (const end of this.waits.get(id) ?? []) end();
  }

  /** Ends all waits when the server stops. */
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
        if (!(error instanceof StoreUnavailable))
          log.error({ err: error }, 'could not check which events have ended; will retry');
      }
      this.poll = null;
      this.pollShared();
    });
  }
}
