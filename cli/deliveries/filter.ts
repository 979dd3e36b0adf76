/** The conditions that `deliveries list` and `deliveries replay` share. */
import { suggest } from '../../compiler/text/suggest.ts';
import type { ListFilter } from '../../runtime/store/queries.ts';
import { SHOWN_STATES } from '../../runtime/store/states.ts';
import { UsageError } from '../base/errors.ts';

type DeliveryFilterWords = Readonly<Record<'state' | 'route' | 'job' | 'since', string | undefined>>;

export type Filter = Omit<ListFilter, 'limit' | 'before'>;

/** @throws UsageError for an unknown word. */
export function parseDeliveryFilter({ state, route, job, since }: DeliveryFilterWords, now: number): Filter {
  return {
    ...(state === undefined ? {} : { state: parseNamed('state', state, SHOWN_STATES) }),
    ...(route === undefined ? {} : { route }),
    ...(job === undefined ? {} : { job }),
    ...(since === undefined ? {} : { since: parseSince(since, now) }),
  };
}

const UNITS: Readonly<Record<string, number>> = { s: 1000, min: 60_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Unix ms: a span back from now (`90s`, `30min`, `12h`, `7d`) or an instant (`2026-01-05`, `2026-01-05T08:00Z`). */
export function parseSince(text: string, now: number): number {
  const span = /^(\d+(?:\.\d+)?)\s*(s|min|m|h|d)$/.exec(text);
  if (span !== null) return Math.floor(now - Number(span[1]) * (UNITS[span[2] ?? ''] ?? 0));
  const instant = /^\d{4}-\d\d-\d\d/.test(text) ? Date.parse(text) : Number.NaN;
  if (!Number.isNaN(instant)) return instant;
  throw new UsageError(`"${text}" is no time`, 'write 30min, 12h, 7d, 2026-01-05 or 2026-01-05T08:00Z');
}

export function parseLimit(text: string): number {
  const limit = Number(text);
  if (Number.isInteger(limit) && limit > 0) return limit;
  throw new UsageError(`--limit takes a whole number above 0, not "${text}"`);
}

/** One of these names, of which there may be many. @param what they are names of */
export function parseNamed<Name extends string>(what: string, text: string, names: readonly Name[]): Name {
  const found = names.find((name) => name === text);
  if (found !== undefined) return found;
  const [close] = suggest(text, names);
  const known = `${what}s: ${names.join(', ')}`;
  throw new UsageError(
    `there is no ${what} "${text}"`,
    close === undefined ? known : `did you mean ${close}? ${known}`,
  );
}
