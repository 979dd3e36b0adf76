/** The conditions of `requests list`. */

import { UsageError } from '../../../../cli/base/errors.ts';
import { parseLimit, parseNamed, parseSince } from '../../../../cli/deliveries/filter.ts';
import { REASON_CODES } from '../../../../runtime/intake/reason-codes.ts';
import { OUTCOMES } from '../../../../runtime/intake/reply.ts';
import type { KeptFilter, KeptPage } from '../../../../schemas/built/operations/types.ts';
import { numberOf } from '../../runtime/capture/requests.ts';

interface RequestFilterWords {
  readonly route: string | undefined;
  readonly outcome: string | undefined;
  readonly reason: string | undefined;
  readonly since: string | undefined;
  readonly grep: string | undefined;
}

/** @throws UsageError for an invalid time, outcome or reason. */
export function parseRequestFilter(
  { route, outcome, reason, since, grep }: RequestFilterWords,
  now: number,
): KeptFilter {
  const words = { route, outcome, reason, grep };
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
