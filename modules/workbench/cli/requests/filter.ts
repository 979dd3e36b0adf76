/** The conditions of `requests list`. */
import type { CliContext } from '../../../../cli/base/context.ts';
import { UsageError } from '../../../../cli/base/errors.ts';
import { loadPart } from '../../../../cli/base/module.ts';
import { parseNamed } from '../../../../cli/command-line/values.ts';
import { parseLimit, parseSince } from '../../../../cli/deliveries/filter.ts';
import { unknownRoute } from '../../../../cli/subscriptions/find-route.ts';
import type { KeptFilter, KeptPage, KeptRequests } from '../../../../runtime/intake/kept-request.ts';
import { REASON_CODES } from '../../../../runtime/intake/reason-codes.ts';
import { OUTCOMES } from '../../../../runtime/intake/reply.ts';
import { numberOf } from '../../runtime/capture/requests.ts';

export interface RequestFilterWords {
  readonly route: string | undefined;
  readonly outcome: string | undefined;
  readonly reason: string | undefined;
  readonly since: string | undefined;
  readonly grep: string | undefined;
}

/** @throws UsageError for an invalid time, outcome or reason. */
export function parseRequestFilter({ since, ...words }: RequestFilterWords, now: number): KeptFilter {
  if (words.outcome !== undefined) parseNamed('outcome', words.outcome, OUTCOMES);
  if (words.reason !== undefined) parseNamed('reason', words.reason, REASON_CODES);
  const given = Object.entries(words).filter(([, value]) => value !== undefined);
  return { ...Object.fromEntries(given), ...(since === undefined ? {} : { since: parseSince(since, now) }) };
}

/** @throws UsageError for an invalid id. */
export function parsePage(limit: string, before: string | undefined): KeptPage {
  if (before === undefined) return { limit: parseLimit(limit) };
  if (numberOf(before) !== null) return { limit: parseLimit(limit), before };
  throw new UsageError(`"${before}" is no id of a request`, 'hookwright requests list shows the ids');
}

/** For a list that is empty. @throws CliError when no route has this name, now or among the newest requests that are kept */
export async function checkRouteName(context: CliContext, requests: KeptRequests, name: string): Promise<void> {
  const names = await loadPart(context.modules, 'names');
  const kept = (await requests.list({}, { limit: SEARCHED })).map(({ route }) => route);
  const known = [...new Set([...(await names('route', context)), ...kept])];
  if (known.length > 0 && !known.includes(name)) throw unknownRoute(name, known);
}

const SEARCHED = 1000;
