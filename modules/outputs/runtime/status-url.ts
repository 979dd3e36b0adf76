/** The `status_url` of an event: given to its sender with the 202, waited for, and asked. */
import { randomBytes } from 'node:crypto';
import type { FindInstallation } from '../../../runtime/dispatch/installation.ts';
import { findStored } from '../../../runtime/dispatch/installation.ts';
import type { IntakeRequest } from '../../../runtime/intake/body.ts';
import type { Intake, OpenStatuses } from '../../../runtime/intake/intake.ts';
import type { Reply, Subject } from '../../../runtime/intake/reply.ts';
import { acceptedWith, jsonReply, retryLater } from '../../../runtime/intake/reply.ts';
import type { Clock } from '../../../runtime/platform/clock.ts';
import type { Store } from '../../../runtime/store/store.ts';
import { StoreUnavailable } from '../../../runtime/store/store.ts';
import type { LinkedRoute } from '../../../runtime/table/linked-table.ts';
import { RateWindows } from '../../../runtime/table/rate-limit.ts';
import type { EventStatus } from './statuses.ts';
import { EventStatuses, isOver } from './statuses.ts';

export const openStatuses: OpenStatuses = (context) => {
  const { store, clock } = context;
  const statuses = new EventStatuses({ ...context, key: findStatusKey(store) });
  const windows = new RateWindows();
  return {
    async begin(intake) {
      const token = await statuses.token(intake.dispatch?.id ?? '');
      return (subject) => answerWithStatus(intake, subject, statuses, token);
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

/** The route's URL as its sender knows it, then this. */
const PATH = /^(\/.+)\/status\/([a-z0-9]{1,64}\.[A-Za-z0-9_-]{43})$/;
/** Longest wait, in seconds. */
const LONGEST_WAIT = 60;

/** The seconds that a request prefers to wait for its outcome (RFC 7240), at most 60; 0: it does not. */
export function preferredWait(prefer: string | readonly string[] | undefined): number {
  const [, seconds] = /(?:^|[,;])\s*wait\s*=\s*"?(\d{1,9})"?\s*(?:$|[,;])/i.exec(String(prefer ?? '')) ?? [];
  return Math.min(LONGEST_WAIT, Number(seconds ?? 0));
}

/** The answer to an accepted event: its `status_url`, and what became of it if its sender waits and it ends in time. */
async function answerWithStatus(
  intake: Intake,
  subject: Subject,
  statuses: EventStatuses,
  token: string,
): Promise<Reply> {
  const { route, request, response, dispatch, url } = intake;
  const own = (route.plan.public_url ?? url).replace(/[?#].*$/s, '').replace(/\/+$/, '');
  const more = { status_url: `${own}/status/${token}` };
  const seconds = preferredWait(request.headers.prefer);
  if (seconds === 0 || dispatch === null) return acceptedWith(subject, 202, more);
  await statuses.wait(dispatch.id, seconds * 1000, (gone) => response.once('close', gone));
  const status = await readOr(statuses, dispatch.id, route);
  if (status === null || !isOver(status)) return acceptedWith(subject, 202, more);
  return acceptedWith(subject, 200, { ...more, ...status }, ['Preference-Applied', `wait=${seconds}`]);
}

/** Null where the store is unavailable: the event is accepted all the same. */
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
  /** Of those who ask: they take none of a route's events. */
  readonly windows: RateWindows;
}

/** The answer to whoever asks; null: the path is not the URL of an event, of which nothing else is told. */
async function askStatus({ method }: IntakeRequest, path: string, from: StatusReader): Promise<Reply | null> {
  const [, at = '', token = ''] = PATH.exec(path) ?? [];
  if (token === '' || (method !== 'GET' && method !== 'HEAD')) return null;
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
