/** The conditions of `requests list`. */
import type { KeptFilter } from '../../runtime/capture/kept-request.ts';
import { parseSince } from '../deliveries/filter.ts';

export interface RequestFilterWords {
  readonly route: string | undefined;
  readonly outcome: string | undefined;
  readonly reason: string | undefined;
  readonly since: string | undefined;
  readonly grep: string | undefined;
}

/** @throws UsageError for a time that is none. */
export function parseRequestFilter({ since, ...words }: RequestFilterWords, now: number): KeptFilter {
  const given = Object.entries(words).filter(([, value]) => value !== undefined);
  return { ...Object.fromEntries(given), ...(since === undefined ? {} : { since: parseSince(since, now) }) };
}
