/** The operations of the API by their ids: each calls operations of the control socket, and returns what the document says. */
import { alertTitle } from '../../../../base/alert-kinds.ts';
import type { ConsoleContext } from '../../../../runtime/console/console.ts';
import type { ControlContract, ControlName } from '../../../../runtime/control/operations.ts';
import { printedRequest } from '../../../../runtime/intake/kept-request.ts';
import type { DispatchSummary, Query, QueryResults } from '../../../../runtime/store/queries.ts';
import { whyNotReplay } from '../../../../runtime/store/replay.ts';
import { runDuration, runFacts } from '../../../../runtime/store/run-facts.ts';
import { timeline } from '../../../../runtime/store/timeline.ts';
import { ApiRefusal } from '../answer.ts';
import type { Api, DeliverySummary, Overview } from './generated/api.ts';
import { cursorOf, keyIn, pageOf, sortText } from './page.ts';

export type ApiContext = Pick<ConsoleContext, 'operations' | 'readiness' | 'clock'>;

/** What a handler returns is not changed by anyone. */
type Immutable<T> = T extends readonly (infer Member)[]
  ? readonly Immutable<Member>[]
  : T extends object
    ? { readonly [Key in keyof T]: Immutable<T[Key]> }
    : T;

type Handlers = {
  readonly [Id in keyof Api]: (context: ApiContext, input: Api[Id]['input']) => Promise<Immutable<Api[Id]['output']>>;
};

/** @throws ApiRefusal while the gateway has no operations, or where the program has none */
function call<Name extends ControlName>(
  { operations }: ApiContext,
  name: Name,
  input: ControlContract[Name]['input'],
): Promise<ControlContract[Name]['output']> {
  const handler = operations()?.[name];
  if (handler === undefined) throw new ApiRefusal(503, 'not_available', 'this program has no operations, or not yet');
  return Promise.resolve(handler(input));
}

const read = <Q extends Query>(context: ApiContext, query: Q): Promise<QueryResults[Q['kind']]> =>
  call(context, 'store_read', query) as Promise<QueryResults[Q['kind']]>;

export const HANDLERS: Handlers = {
  async getOverview(context) {
    const [status, waiting] = await Promise.all([
      call(context, 'status', {}),
      read(context, { kind: 'list', filter: { oldest_open: true, limit: WAITING } }),
    ]);
    const { version, url, started_at, config, table, subscriptions, runs, dispatches, store, alerts, paused } = status;
    return {
      ...{ now: context.clock.now(), version, url, node_state: status.state, started_at, config, runs, paused },
      subscriptions: { serving: subscriptions.serving, quarantined: subscriptions.quarantined },
      table: { hash: table.hash, generation: table.generation, loaded_at: table.loaded_at, routes: table.routes },
      states: dispatches?.states ?? null,
      waiting: waiting.map(summaryOf),
      dead: dispatches?.dead ?? [],
      last_error: dispatches?.last_error ?? null,
      store: { bytes: store.bytes, damage: store.damage?.message ?? null, refused: store.refused },
      problems: problemsOf(context, table.error),
      alerts: alerts.map(({ kind, subject, reason, since, last_at, count }) => ({
        ...{ kind, title: alertTitle(kind), subject, reason, since, last_at, count },
      })),
    };
  },

  async listRequests(context, { limit, cursor, ...filter }) {
    const page = { limit: limit + 1, ...(cursor === undefined ? {} : { before: cursor }) };
    return pageOf(await call(context, 'requests_list', { filter, page }), limit, ({ id }) => id);
  },

  async getRequest(context, { id }) {
    const found = await call(context, 'requests_load', { id });
    if (found.kind !== 'found') throw notOne('request', id, found.kind);
    return printedRequest(found.request);
  },

  async listDeliveries(context, { limit, cursor, ...filter }) {
    const before = cursor === undefined ? {} : { before: Number(cursor) };
    const rows = await read(context, { kind: 'list', filter: { ...filter, ...before, limit: limit + 1 } });
    const { items, next } = pageOf(rows, limit, ({ ref }) => String(ref));
    return { items: items.map(summaryOf), next };
  },

  async getDelivery(context, { id }) {
    const found = await read(context, { kind: 'find', id });
    if (found.kind !== 'found') throw notOne('delivery', id, found.kind);
    const { dispatch: stored } = found;
    return {
      ...summaryOf(stored),
      not_replayable: whyNotReplay(stored, false),
      dispatch: stored.dispatch,
      run: { ...runFacts(stored), answer: stored.answer, usage: stored.usage },
      timeline: timeline(stored),
    };
  },

  async listRoutes(context, { limit, cursor, profile }) {
    const all = await call(context, 'routes_list', {});
    const keyOf = (route: { readonly name: string; readonly profile: string }) => [route.name, route.profile];
    const after = cursor === undefined ? null : sortText(keyIn(cursor));
    const rest = all.filter(
      (route) =>
        (profile === undefined || route.profile === profile) && (after === null || sortText(keyOf(route)) > after),
    );
    return pageOf(rest, limit, (route) => cursorOf(keyOf(route)));
  },

  async listJobs(context, { limit, cursor, ...filter }) {
    const [name = '', id = ''] = cursor === undefined ? [] : keyIn(cursor);
    const after = cursor === undefined ? {} : { after: { name, id } };
    const jobs = await call(context, 'jobs_list', { ...filter, ...after, limit: limit + 1 });
    const { items, next } = pageOf(jobs, limit, (job) => cursorOf([job.name, job.id]));
    return { items: items.map(({ ticks: _, ...job }) => job), next };
  },

  async getFigures(context, { span }) {
    const { slot_ms, slots } = SPANS[span];
    const to = Math.ceil(context.clock.now() / slot_ms) * slot_ms;
    const from = to - slots * slot_ms;
    return { from, to, slot_ms, items: await read(context, { kind: 'figures', since: from, slot_ms }) };
  },
};

const MINUTE_MS = 60_000;
const SPANS = {
  hour: { slot_ms: MINUTE_MS, slots: 60 },
  day: { slot_ms: 15 * MINUTE_MS, slots: 96 },
  week: { slot_ms: 120 * MINUTE_MS, slots: 84 },
} as const;

/** Number of deliveries in the overview that have not ended. */
const WAITING = 20;

/** Readiness does not know why the newest configuration does not compile. */
function problemsOf({ readiness }: ApiContext, error: string | null): Overview['problems'] {
  const { problems } = readiness();
  const isKnown = error === null || problems.some(({ message }) => message === error);
  return [...problems, ...(isKnown ? [] : [{ part: 'table' as const, blocking: false, message: error }])];
}

function summaryOf(row: DispatchSummary): DeliverySummary {
  const { id, profile, route, job, mode, event, delivery_id, state, reason } = row;
  const { accepted_at, started_at, answered_at, finished_at, replay_of } = row;
  return {
    ...{ id, profile, route, job, mode, event, delivery_id, state, reason },
    ...{ accepted_at, started_at, answered_at, finished_at, duration_ms: runDuration(row), replay_of },
  };
}

const notOne = (what: string, id: string, kind: 'unknown' | 'ambiguous'): ApiRefusal =>
  kind === 'unknown'
    ? new ApiRefusal(404, 'not_found', `there is no ${what} "${id}"`)
    : new ApiRefusal(409, 'ambiguous', `several have an id that begins with "${id}"`);
