/** The operations of the API by id: each calls control operations and returns the result that the OpenAPI document describes. */
import { alertTitle } from '../../../../base/names.ts';
import { utcTime } from '../../../../base/text.ts';
import { ERROR_GROUPS } from '../../../../runtime/intake/reason-codes.ts';
import { ACCEPTED_OUTCOMES } from '../../../../runtime/intake/reply.ts';
import { readResets } from '../../../../runtime/store/actions.ts';
import type { FigureCount, FigureSum } from '../../../../runtime/store/figures.ts';
import { minuteAt } from '../../../../runtime/store/figures.ts';
import { findDelivery } from '../../../../runtime/store/find-delivery.ts';
import type { DispatchSummary, StoredDispatch } from '../../../../runtime/store/queries.ts';
import { sessionName } from '../../../../runtime/store/records.ts';
import { hasEnded, isRejected } from '../../../../runtime/store/states.ts';
import {
  deliveryLabel,
  hasText,
  runFacts,
  shownOutputs,
  timeline,
  whyNotReplay,
  withLabels,
} from '../../../../runtime/store/timeline.ts';
import type { UsageSum } from '../../../../runtime/store/usage.ts';
import type { Person } from '../../../../runtime/table/link-people.ts';
import type {
  AnsweredApproval,
  Approval,
  DeliverySummary,
  KeptFilter,
  KeptPage,
  RequestSummary,
} from '../../../../schemas/built/operations/types.ts';
import type { Page } from '../answer.ts';
import { ApiRefusal, cursorOf, keyIn, pageOf, sortedPage } from '../answer.ts';
import type { ApiContext } from './call-operation.ts';
import { callOperation, checkNames, jobId, namedJob, notOne, ofProfile, read } from './call-operation.ts';
import type { Api, Overview, PauseState, Session } from './generated/api.ts';
import { readNeeds } from './needs.ts';

type Handlers = {
  readonly [Id in keyof Api]: (context: ApiContext, input: Api[Id]['input']) => Promise<Api[Id]['output']>;
};

export const HANDLERS: Handlers = {
  getSession: async (context) => consoleSession(context, context.person),

  async getOverview(context) {
    const [status, waiting] = await Promise.all([
      callOperation(context, 'status', {}),
      read(context, { kind: 'list', filter: { oldest_open: true, limit: WAITING } }),
    ]);
    const { url, config, table, subscriptions, dispatches, store, alerts } = status;
    const { version, started_at, runs, paused } = status;
    const problems = problemsOf(context, table.error);
    const shared = { version, url, started_at, config, runs, paused };
    return {
      ...shared,
      now: context.clock.now(),
      node_state: status.state,
      subscriptions: { serving: subscriptions.serving, quarantined: subscriptions.quarantined },
      table: { hash: table.hash, generation: table.generation, loaded_at: table.loaded_at, routes: table.routes },
      states: dispatches?.states ?? null,
      waiting: waiting.map(summaryOf),
      dead: dispatches?.dead ?? [],
      last_error: dispatches?.last_error ?? null,
      store: { bytes: store.bytes, damage: store.damage?.message ?? null, refused: store.refused },
      problems,
      needs: await readNeeds(context, status, problems),
      alerts: alerts.map(({ about: _, until: __, kind, ...alert }) => ({ kind, title: alertTitle(kind), ...alert })),
    };
  },

  async listRequests(context, { outcome, ...input }) {
    const outcomes = OUTCOME_GROUPS[outcome ?? ''] ?? [outcome];
    const pages = await Promise.all(
      outcomes.map((one) => requestPage(context, one === undefined ? input : { ...input, outcome: one })),
    );
    // Each page is complete down to its `next`, and all of them together down to the newest of these.
    const end = pages.map(({ next }) => next ?? '').reduce((a, b) => (a > b ? a : b));
    const rows = pages.flatMap(({ items }) => items.filter(({ id }) => id >= end));
    rows.sort((a, b) => (a.id > b.id ? -1 : 1));
    const { items, next } = pageOf(rows, input.limit, ({ id }) => id);
    const not_kept = Object.values(context.kept().dropped).reduce((sum, count) => sum + count, 0);
    return { items: await withDeliveries(context, items), next: next ?? (end || null), not_kept };
  },

  async getRequest(context, { id }) {
    const found = await callOperation(context, 'request_show', { id });
    if (found.kind !== 'found') throw notOne('request', id, found.kind);
    const { scheme_label, ...request } = found.request;
    return { ...request, scheme: scheme_label ?? request.scheme };
  },

  explainRequest: (context, { id }) => callOperation(context, 'request_explain', { id }),
  printRequest: (context, { id, form }) => callOperation(context, 'request_print', { id, form }),
  replayRequest: (context, { id }) => callOperation(context, 'requests_replay', { id, by: context.by }),

  async listDeliveries(context, { limit, cursor, ...filter }) {
    const before = cursor === undefined ? {} : { before: Number(cursor) };
    const named = await checkNames(context, filter);
    const rows = await read(context, { kind: 'list', filter: { ...named, ...before, limit: limit + 1 } });
    const { items, next } = pageOf(rows, limit, ({ ref }) => String(ref));
    return { items: items.map(summaryOf), next };
  },

  async getDelivery(context, { id }) {
    const stored = await storedDelivery(context, id);
    const { dispatch: _, max_concurrent: __, answer: ___, program: ____, steps: _____, ...row } = stored;
    const { profile, route, job } = row;
    const { agent = null } = stored.dispatch;
    return {
      ...summaryOf(row),
      not_replayable: whyNotReplay(stored, false),
      resends: hasText(stored, false, row.state === 'done'),
      request_id: await requestOf(context, stored),
      configured: await callOperation(context, 'configured_work', { profile, route, job, agent }),
      failures: row.state === 'dead' ? failuresOf(stored) : [],
      dispatch: withLabels(stored.dispatch),
      run: latestRun(stored),
      outputs: shownOutputs(stored),
      timeline: timeline(stored),
    };
  },

  async replayDeliveries(context, { ids, limit, rerun, again, ...filter }) {
    if (ids !== undefined && Object.keys(filter).length > 0)
      throw new ApiRefusal(400, 'bad_input', 'name deliveries either by `ids` or by filters, not both');
    const chosen = ids === undefined ? { filter: await checkNames(context, filter) } : { ids };
    return callOperation(context, 'deliveries_replay', { ...chosen, limit, rerun, again, by: context.by });
  },

  async getRun(context, { id }) {
    const stored = await storedDelivery(context, id);
    const { agent = null, session, prompt, skills, toolsets } = stored.dispatch;
    const { profile, route, job, state, reason } = stored;
    const of = { id: stored.id, profile, route, job, state, reason, agent, session, prompt, skills, toolsets };
    return { ...of, latest: latestRun(stored) };
  },

  async listRoutes(context, { profile, ...page }) {
    const all = await callOperation(context, 'routes_list', {});
    const selected = all.filter((route) => profile === undefined || route.profile === profile);
    const listed = sortedPage(selected, page, (route) => [route.name, route.profile]);
    return ofProfile(context, profile, listed);
  },

  testRoute: (context, { name, ...event }) =>
    callOperation(context, 'route_test', { route: name, ...event, by: context.by }),
  pauseRoute: (context, { seconds, ...named }) => setRoute(context, named, pausedFor(context, seconds)),
  resumeRoute: (context, named) => setRoute(context, named, RESUMED),

  async listJobs(context, { limit, cursor, ...filter }) {
    const [name = '', id = ''] = cursor === undefined ? [] : keyIn(cursor);
    const after = cursor === undefined ? {} : { after: { name, id } };
    const jobs = await callOperation(context, 'jobs_list', { ...filter, ...after, limit: limit + 1 });
    const { items, next } = pageOf(jobs, limit, (job) => cursorOf([job.name, job.id]));
    return ofProfile(context, filter.profile, { items, next });
  },

  getJob: async (context, { id }) => callOperation(context, 'job_show', { id: await jobId(context, id) }),
  editJob: async (context, { id, ...change }) =>
    callOperation(context, 'job_edit', { id: await jobId(context, id), ...change, by: context.by }),
  listTargets: async (context, named) => ({ items: await callOperation(context, 'targets_list', named) }),

  async runJob(context, { id }) {
    return callOperation(context, 'job_run', { reference: await jobId(context, id), by: context.by });
  },
  pauseJob: (context, { id, seconds }) => setJob(context, id, pausedFor(context, seconds)),
  resumeJob: (context, { id }) => setJob(context, id, RESUMED),
  async removeJob(context, { id: reference }) {
    const id = await jobId(context, reference);
    if (await callOperation(context, 'store_write', { kind: 'remove_job', id, by: context.by })) return { id };
    // Another person may have just removed it.
    await jobId(context, id);
    throw new ApiRefusal(409, 'refused', `the job "${reference}" is in the configuration: remove it there`);
  },

  async listSessions(context, { profile, ...page }) {
    const [busy, chats, resets] = await Promise.all([
      read(context, { kind: 'sessions', profile: profile ?? null }),
      callOperation(context, 'chats_list', profile === undefined ? {} : { profile }),
      readResets({ read: (query) => read(context, query) }),
    ]);
    const none = { target: null, turns: null, changed_at: null, problem: null };
    const ofAgents = busy.map(({ session: id, run, waiting }) => ({
      kind: 'agent' as const,
      id,
      profile: run.profile,
      ...none,
      waiting,
      last_action: resets.get(sessionName({ profile: run.profile, session: id })) ?? null,
      run: summaryOf(run),
    }));
    const idle = { waiting: 0, last_action: null, run: null };
    const ofChats = chats.map(({ chat_id: id, path: _, ...chat }) => ({ kind: 'chat' as const, id, ...chat, ...idle }));
    const all = sortedPage([...ofAgents, ...ofChats], page, (one) => [
      `${one.kind} ${one.target} ${one.profile}`,
      one.id,
    ]);
    return ofProfile(context, profile, all);
  },

  async listApprovals(context, { route, ...page }) {
    await checkNames(context, { route });
    const all = await callOperation(context, 'approvals_list', {});
    const selected = all.filter((each) => route === undefined || each.route === route);
    return sortedPage(selected, page, ({ since, id }) => [String(since ?? 0).padStart(15, '0'), id]);
  },

  async getApproval(context, { id }) {
    const found = await callOperation(context, 'approvals_show', { id });
    if (found.kind !== 'found') throw notOne('approval', id, found.kind);
    return found.approval;
  },

  async answerApproval(context, { id, approve, undoable, reason = null }) {
    const answer = { id, approve, by: context.by, reason, ...(undoable ? { delay_ms: UNDO_MS } : {}) };
    return answeredApproval(id, await callOperation(context, 'approvals_answer', answer), FIRST_COUNTS);
  },

  async undoApproval(context, { id }) {
    const undone = await callOperation(context, 'approvals_undo', { id, by: context.by });
    return answeredApproval(id, undone, 'it can no longer be undone');
  },

  async listUsage(context, { since, span, route, ...page }) {
    await checkNames(context, { route });
    const slot_ms = USAGE_SPANS[span];
    const from = since ?? context.clock.now() - USUAL_DAYS * USAGE_SPANS.day;
    const all = await read(context, { kind: 'usage', since: Math.max(0, Math.floor(from)), slot_ms });
    const selected = all.filter((sum) => route === undefined || sum.route === route);
    // The newest first.
    const keyOf = ({ slot, ...sum }: UsageSum): readonly [string, string] => [
      String(Number.MAX_SAFE_INTEGER - slot),
      JSON.stringify([sum.profile, sum.route, sum.job, sum.agent]),
    ];
    return sortedPage(selected, page, keyOf);
  },

  async listNodes(context) {
    const [nodes, { url, version, table, started_at, state }] = await Promise.all([
      read(context, { kind: 'nodes' }),
      callOperation(context, 'status', {}),
    ]);
    const own = { url, version, table: table.hash, started_at, lease_expires_at: null, state, problem: table.error };
    const shared = nodes.map(({ node: _, read_at: __, ...node }) => node);
    return { items: shared.length === 0 ? [own] : shared };
  },

  async listBlueprints(context) {
    const items = await callOperation(context, 'blueprints_list', {});
    return { items: items.toSorted((one, other) => one.title.localeCompare(other.title)) };
  },
  createBlueprintJob: (context, job) => callOperation(context, 'create_blueprint_job', { ...job, by: context.by }),

  async getFigures(context, { span, coarse }) {
    const slot_ms = SPANS[span].slot_ms * (coarse ? 2 : 1);
    await context.figures?.store();
    const now = context.clock.now();
    const since = minuteAt(now) - SPANS[span].ms;
    const sums = await read(context, { kind: 'figures', since, slot_ms: SPANS[span].slot_ms });
    const shown = coarse ? await read(context, { kind: 'figures', since, slot_ms }) : sums;
    const items = shown.map(({ slot, half_us, most_us, waiting: pending, ...counts }) => {
      return { slot, ...outcomesOf([counts]), median: half_us || null, p95: most_us || null, pending };
    });
    const of = { totals: outcomesOf(sums), median: middle(sums, 'half_us'), p95: middle(sums, 'most_us') };
    return { from: since - (since % slot_ms), to: now - (now % slot_ms) + slot_ms, slot_ms, items, ...of };
  },
};

function outcomesOf(of: readonly Pick<FigureSum, FigureCount>[]): Api['getFigures']['output']['totals'] {
  const sum = (name: FigureCount): number => of.reduce((sum, { [name]: count }) => sum + count, 0);
  const [ignored, duplicate, failed] = [sum('ignored'), sum('duplicate'), sum('failed')];
  return { accepted: sum('taken'), ignored, duplicate, rejected: sum('refused'), failed };
}

/** The middle one of the measured response times. */
function middle(of: readonly FigureSum[], name: 'half_us' | 'most_us'): number | null {
  const known = of.flatMap((sum) => sum[name] || []).sort((a, b) => a - b);
  return known[known.length >> 1] ?? null;
}

/** What the pages know about the person who uses them. */
export const consoleSession = (
  { isOpen, plan }: Pick<ApiContext, 'isOpen' | 'plan'>,
  { role, name }: Person,
): Session => ({
  role,
  user: name,
  signs_in: !isOpen(),
  name: plan.name ?? null,
});

type Outcomes = readonly KeptFilter['outcome'][];
/** Outcomes that are listed together. */
const OUTCOME_GROUPS: Readonly<Record<string, Outcomes>> = { ...ERROR_GROUPS, accepted: [...ACCEPTED_OUTCOMES] };

const USAGE_SPANS = { hour: 3_600_000, day: 86_400_000 } as const;
/** Days of usage without `since`. */
const USUAL_DAYS = 7;

/** How long an approval of the pages can be undone, in ms. */
const UNDO_MS = 5000;
const FIRST_COUNTS = 'the first answer counts';

/** @throws ApiRefusal for an unknown id, or with the earlier answer */
function answeredApproval(id: string, answered: AnsweredApproval, why: string): Approval {
  if (answered.kind === 'unknown' || answered.kind === 'ambiguous') throw notOne('approval', id, answered.kind);
  const { approval } = answered;
  if (answered.kind === 'answered') return approval;
  const who = approval.answer === null ? '' : ` by ${approval.answer.by} at ${utcTime(approval.answer.at)}`;
  throw new ApiRefusal(409, 'late', `already ${approval.state}${who}: ${why}`);
}

/** @throws ApiRefusal for an unknown or ambiguous id */
async function storedDelivery(context: ApiContext, id: string): Promise<StoredDispatch> {
  const found = await findDelivery({ read: (query) => read(context, query) }, id);
  if (found.kind !== 'found') throw notOne('delivery', id, found.kind);
  return found.dispatch;
}

/** The targets that a dead delivery has not reached; none of them: its run failed. */
function failuresOf({ dispatch: { deliveries }, steps, reason }: StoredDispatch): DeliveryDetails['failures'] {
  const failed = deliveries.flatMap((delivery, index) => {
    const last = steps.findLast((step) => step.kind === 'delivery' && step.index === index);
    if (last === undefined || hasEnded(steps, index) || isRejected(steps, index)) return [];
    const of = { target: deliveryLabel(delivery), address: delivery.extra, reason: last.reason ?? '' };
    return [{ ...of, outcome: last.outcome }];
  });
  return failed.length > 0 ? failed : [{ target: null, address: {}, reason: reason ?? '', outcome: 'failed' }];
}

type DeliveryDetails = Api['getDelivery']['output'];

/** How long before its acceptance the request of an event may have arrived, in ms: usually, and at most, for a slow body. */
const BEFORE_MS = [2000, 60_000];

/** The captured request of a delivery: the latest one with its delivery id that arrived before the delivery was accepted. */
async function requestOf(context: ApiContext, stored: StoredDispatch): Promise<string | null> {
  const { accepted_at, delivery_id, route, profile, replay_of } = stored;
  if (route === null || replay_of !== null) return null;
  // The id of a request is its time in 1,024ths of a millisecond, so that older deliveries are found as fast.
  const page = { limit: 20, before: ((accepted_at + 1) * 1024).toString(36).padStart(10, '0') };
  for (const ms of BEFORE_MS) {
    const filter = { profile, route, grep: delivery_id, since: accepted_at - ms };
    // A delivery is shown even if captured requests cannot be read. `grep` searches whole requests, so it may find others.
    const rows = await callOperation(context, 'requests_list', { filter, page }).catch(() => []);
    const found = rows.find((row) => row.delivery_id === delivery_id && row.outcome !== 'duplicate');
    if (found !== undefined) return found.id;
  }
  return null;
}

/** A page of the captured requests with this outcome, or with any. */
async function requestPage(
  context: ApiContext,
  { limit, cursor, ...filter }: KeptFilter & { readonly limit: number; readonly cursor?: string },
): Promise<Page<RequestSummary>> {
  await checkNames(context, filter);
  const begin = cursor === undefined ? {} : { before: cursor };
  const { grep, ...columns } = filter;
  const list = (of: KeptFilter, page: KeptPage) =>
    callOperation(context, 'requests_list', { filter: of, page: { ...begin, ...page } });
  const [last, older] = grep === undefined ? [] : await list(columns, { limit: 2, skip: SEARCHED - 1 });
  const end = older === undefined ? undefined : last;
  const rows = await list(filter, { limit: limit + 1, ...(end === undefined ? {} : { down_to: end.id }) });
  const { items, next } = pageOf(rows, limit, ({ id }) => id);
  return { items, next: next ?? end?.id ?? null };
}

/** With one query for all of them. Requests are shown even while the store cannot be read. */
async function withDeliveries(
  context: ApiContext,
  requests: readonly RequestSummary[],
): Promise<Api['listRequests']['output']['items']> {
  const ids = requests.flatMap(({ dispatch_id }) => dispatch_id ?? []);
  const filter = { ids, limit: ids.length };
  const found = ids.length === 0 ? [] : await read(context, { kind: 'list', filter }).catch(() => []);
  const byId = new Map(found.map((row) => [row.id, summaryOf(row)]));
  return requests.map((request) => ({ ...request, delivery: byId.get(request.dispatch_id ?? '') ?? null }));
}

const latestRun = (stored: StoredDispatch) => ({ ...runFacts(stored), answer: stored.answer, usage: stored.usage });

const MINUTE_MS = 60_000;
const SPANS = {
  hour: { slot_ms: MINUTE_MS, ms: 60 * MINUTE_MS },
  day: { slot_ms: 15 * MINUTE_MS, ms: 1440 * MINUTE_MS },
  week: { slot_ms: 120 * MINUTE_MS, ms: 7 * 1440 * MINUTE_MS },
} as const;

/** Most captured requests that one page searches for a text; each is read completely. */
const SEARCHED = 10_000;

/** Most pending deliveries in the overview. */
const WAITING = 20;

/** The problems of readiness, and why the newest configuration does not compile, which readiness does not know. */
function problemsOf({ readiness }: ApiContext, error: string | null): Overview['problems'] {
  const { problems } = readiness();
  const isKnown = error === null || problems.some(({ message }) => message === error);
  return [...problems, ...(isKnown ? [] : [{ part: 'table' as const, blocking: false, message: error }])];
}

/** Removes internal fields. */
const summaryOf = ({ ref: _, ready_at: __, ...summary }: DispatchSummary): DeliverySummary => summary;

const RESUMED: PauseState = { paused: false, until: null };

/** @param seconds undefined: until it is resumed */
const pausedFor = ({ clock }: ApiContext, seconds: number | undefined): PauseState => ({
  paused: true,
  until: seconds === undefined ? null : Math.round(clock.now() + seconds * 1000),
});

async function setRoute(
  context: ApiContext,
  { name, profile }: { readonly name: string; readonly profile: string },
  state: PauseState,
): Promise<PauseState> {
  const routes = await callOperation(context, 'routes_list', {});
  if (!routes.some((route) => route.name === name && route.profile === profile)) throw notOne('route', name, 'unknown');
  const { by, clock } = context;
  const change = { kind: 'pause_route', profile, route: name, ...state, by, now: clock.now() } as const;
  await callOperation(context, 'store_write', change);
  return state;
}

async function setJob(context: ApiContext, id: string, state: PauseState): Promise<PauseState> {
  const { id: job, paused: isPaused } = await namedJob(context, id);
  const { by, clock } = context;
  const change = { kind: 'pause_job', job, ...state, by, now: clock.now() } as const;
  // Resuming a job that is not paused changes nothing.
  if (state.paused || isPaused) await callOperation(context, 'store_write', change);
  return state;
}
