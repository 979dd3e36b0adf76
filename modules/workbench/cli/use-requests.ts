/** Opens the captured requests of a home, for commands, the console and the check before a swap. */

import { setTimeout } from 'node:timers/promises';
import type { CliContext } from '../../../cli/base/context.ts';
import { ambiguousName, CliError, UsageError } from '../../../cli/base/errors.ts';
import type { PostgresPlan } from '../../../cli/base/module.ts';
import { parseLimit, parseNamed, parseSince } from '../../../cli/deliveries/filter.ts';
import { callGateway, tryCallGateway } from '../../../cli/gateway/ask-gateway.ts';
import type { OpeningContext } from '../../../cli/store/use-store.ts';
import { configuredStore, openDatabase } from '../../../cli/store/use-store.ts';
import { present } from '../../../compiler/text/plain-data.ts';
import type { CapturedRequests } from '../../../runtime/intake/keeper.ts';
import { REASON_CODES } from '../../../runtime/intake/reason-codes.ts';
import { OUTCOMES } from '../../../runtime/intake/reply.ts';
import type {
  ControlContract,
  KeptFilter,
  KeptPage,
  KeptRequest,
  RequestSummary,
} from '../../../schemas/built/operations/types.ts';
import type { StorePlan } from '../../../schemas/generated/types.ts';
import { numberOf } from '../runtime/capture/requests.ts';

/** Timeout of a call to a running gateway, in ms. A search reads every captured request. */
const ANSWER_MS = 60_000;

/** @throws CliError if the requests cannot be read */
export async function useRequests<T>(context: CliContext, use: (requests: CapturedRequests) => Promise<T>): Promise<T> {
  const requests = (await findRemote(context)) ?? (await openCaptured(context, await configuredStore(context)));
  try {
    return await use(requests);
  } finally {
    await requests.close();
  }
}

/** @param id an id or the beginning of one @throws CliError if none or several requests match */
export async function findRequest(requests: CapturedRequests, id: string): Promise<KeptRequest> {
  const found = await requests.load(id);
  if (found.kind === 'found') return found.request;
  if (found.kind === 'unknown') {
    throw new CliError(`no captured request "${id}"`, 'list the ids: hookwright requests list');
  }
  const newest = await requests.list({}, { limit: SEARCHED });
  const candidates = newest.map((each) => each.id).filter((each) => each.startsWith(id));
  throw ambiguousName('request', id, candidates, 'hookwright requests list');
}

/** Number of newest requests that are searched for candidates. */
const SEARCHED = 1000;

/** @throws CliError if no request is captured */
export async function findNewest(requests: CapturedRequests): Promise<KeptRequest> {
  const [newest] = await requests.list({}, { limit: 1 });
  if (newest === undefined) throw new CliError('no captured requests', 'see `capture` of a route: docs/config.md');
  return findRequest(requests, newest.id);
}

/** Captured requests of the gateway that serves this home; null if none is running. */
async function findRemote(context: CliContext): Promise<CapturedRequests | null> {
  const probe = { filter: {}, page: { limit: 1 } };
  if ((await tryCallGateway(context, 'requests_list', probe, ANSWER_MS)) === null) return null;
  const ask = <Name extends 'requests_list' | 'requests_load'>(name: Name, input: ControlContract[Name]['input']) =>
    callGateway(context, name, input, ANSWER_MS);
  return {
    list: (filter, page) => ask('requests_list', { filter, page }),
    load: (id) => ask('requests_load', { id }),
    close: async () => {},
  };
}

/** Captured requests of this store, without calling a gateway. @throws CliError if they cannot be read */
export const openCaptured = (context: OpeningContext, plan: StorePlan): Promise<CapturedRequests> =>
  plan.kind === 'postgres' ? openShared(context, plan) : openFile(context);

async function openShared(context: OpeningContext, plan: PostgresPlan): Promise<CapturedRequests> {
  const { capturedRequests } = await import('../runtime/capture/requests.ts');
  const store = await openDatabase(context, plan, { create: false });
  const rows = store?.state?.requests ?? null;
  if (store === null || rows === null) return NONE_KEPT;
  return { ...capturedRequests(rows), close: () => store.close() };
}

const NONE_KEPT: CapturedRequests = {
  list: async () => [],
  load: async () => ({ kind: 'unknown' }),
  close: async () => {},
};

async function openFile(context: OpeningContext): Promise<CapturedRequests> {
  // Loaded on demand, because the database driver is large.
  const { openRequestFile } = await import('../runtime/capture/request-file.ts');
  return openRequestFile(context.home);
}

/** @throws UsageError for an invalid time, outcome or reason */
export function parseRequestFilter(
  words: Readonly<Record<'route' | 'outcome' | 'reason' | 'since' | 'grep', string | undefined>>,
  now: number,
): KeptFilter {
  const { route, outcome, reason, since, grep } = words;
  if (outcome !== undefined) parseNamed('outcome', outcome, OUTCOMES);
  if (reason !== undefined) parseNamed('reason', reason, REASON_CODES);
  return present({ route, outcome, reason, grep, since: since === undefined ? since : parseSince(since, now) });
}

/** @throws UsageError for an invalid id */
export function parsePage(limit: string, before: string | undefined): KeptPage {
  if (before === undefined) return { limit: parseLimit(limit) };
  if (numberOf(before) !== null) return { limit: parseLimit(limit), before };
  throw new UsageError(`invalid request id "${before}"`, 'list the ids: hookwright requests list');
}

/** Polling interval, in ms. */
const FOLLOW_MS = 500;
const PAGE = 200;

/** @param after id of the last printed request */
export async function followRequests(
  context: CliContext,
  requests: CapturedRequests,
  { filter, after, print }: { filter: KeptFilter; after: string; print: (rows: readonly RequestSummary[]) => void },
): Promise<void> {
  let last = after;
  const stop = new AbortController();
  const unlisten = context.onSignal(() => stop.abort());
  try {
    while (!stop.signal.aborted) {
      const rows = await requests.list(filter, { limit: PAGE, after: last });
      if (rows.length > 0) print(rows);
      last = rows.at(-1)?.id ?? last;
      // The context's clock is not used, because its timers do not keep the process alive.
      await setTimeout(FOLLOW_MS, null, { signal: stop.signal }).catch(() => {});
    }
  } finally {
    unlisten();
  }
}
