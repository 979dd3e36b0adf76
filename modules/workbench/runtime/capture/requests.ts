/**
 * Reads captured requests from their rows. The rows of a file (request-file.ts) and of the database that gateways share have the same
 * interface. An id is a number of ten base-36 digits: the millisecond in which the request arrived, and a sequence number
 * within that millisecond. Ids therefore sort by time, and the number is the key of the row.
 */
import { randomInt } from 'node:crypto';
import { join } from 'node:path';
import { realSource } from '../../../../base/spec-names.ts';
import type { CapturedRequests } from '../../../../runtime/intake/keeper.ts';
import { decodeOr } from '../../../../runtime/store/decode.ts';
import type { NewRequestRow, RequestFilter, RequestRow } from '../../../../runtime/store/shared.ts';
import type { RequestParts } from '../../../../runtime/verify/request.ts';
import { partsOf } from '../../../../runtime/verify/request.ts';
import type {
  FoundRequest,
  KeptHead,
  KeptRequest,
  RequestSummary,
} from '../../../../schemas/built/operations/types.ts';
import { isKeptHead } from '../../../../schemas/built/rows/KeptHead.ts';
import { isMarker } from '../removed.ts';

/** Path of a home's captured requests. It is a separate file, whose loss loses no events. */
export const capturePath = (home: string): string => join(home, 'requests.db');

type OrLater<Result> = Result | Promise<Result>;

/** Reads rows; `RequestRows` implements it. */
export interface ReadRows {
  list(filter: RequestFilter): OrLater<readonly Omit<RequestRow, 'body'>[]>;
  between(from: number, to: number): OrLater<readonly RequestRow[]>;
}

/** Writes rows; `RequestRows` implements it. */
export interface WriteRows {
  add(rows: readonly NewRequestRow[]): OrLater<number>;
  trim(n: number, maxBytes: number): OrLater<void>;
}

const DIGITS = 10;
/** Number of ids per millisecond. */
const PER_MS = 1024;
const ID = /^[0-9a-z]{1,10}$/;
/** Maximum number of requests in one list. */
const LONGEST_PAGE = 1000;

/**
 * Creates numbers that always grow, even if the clock is set back. They start at a random number in the first half of a
 * millisecond, so that two gateways rarely create the same id.
 */
export function createRequestIds(): (now: number) => number {
  let last = 0;
  return (now) => {
    last = Math.max(last + 1, firstNumber(now) + randomInt(PER_MS / 2));
    return last;
  };
}

/** Returns the lowest number of a millisecond. @param at Unix ms */
export const firstNumber = (at: number): number => Math.max(0, Math.floor(at)) * PER_MS;

/** Returns the millisecond of a number. */
export const timeOf = (number: number): number => Math.floor(number / PER_MS);

export const idOf = (number: number): string => number.toString(36).padStart(DIGITS, '0');

/** Returns the number of a complete id; null for any other text. */
export const numberOf = (id: string): number | null =>
  id.length === DIGITS && ID.test(id) ? Number.parseInt(id, 36) : null;

/** Lists and loads the requests of these rows. */
export const capturedRequests = (rows: ReadRows): Omit<CapturedRequests, 'close'> => ({
  async list({ since, until, grep, ...columns }, page) {
    const lowest = since === undefined ? -1 : firstNumber(since) - 1;
    const ends = [startOf(page.before), until === undefined ? undefined : firstNumber(until)];
    const below = Math.min(...ends.map((end) => end ?? Number.POSITIVE_INFINITY));
    const found = await rows.list({
      ...columns,
      above: Math.max(lowest, startOf(page.after) ?? -1, (startOf(page.down_to) ?? 0) - 1),
      ...(below === Number.POSITIVE_INFINITY ? {} : { below }),
      ...(grep === undefined ? {} : { grep }),
      isAscending: page.after !== undefined,
      limit: Math.min(page.limit, LONGEST_PAGE),
      skip: page.skip ?? 0,
    });
    return found.flatMap(summaryOf);
  },
  async load(id): Promise<FoundRequest> {
    if (!ID.test(id)) return { kind: 'unknown' };
    const [from, to] = [id.padEnd(DIGITS, '0'), id.padEnd(DIGITS, 'z')].map((each) => Number.parseInt(each, 36));
    const [found, other] = await rows.between(from ?? 0, to ?? 0);
    if (found === undefined) return { kind: 'unknown' };
    if (other !== undefined) return { kind: 'ambiguous' };
    const request = requestOf(found);
    return request === null ? { kind: 'unknown' } : { kind: 'found', request };
  },
});

/** An invalid id sorts before all others. */
const startOf = (id: string | undefined): number | undefined => (id === undefined ? undefined : (numberOf(id) ?? 0));

/** Returns null for a damaged head, so that the other requests are still listed. */
const headOf = (head: string): KeptHead | null => decodeOr<KeptHead | null>(head, isKeptHead, null);

function summaryOf({ n, head }: Omit<RequestRow, 'body'>): readonly RequestSummary[] {
  const known = headOf(head);
  if (known === null) return [];
  const { at, profile, route, method, path, outcome, status, stage, reason, event, delivery_id } = known;
  const { verified, body_bytes, events = [] } = known;
  const dispatch_id = known.dispatch_id ?? events.find((each) => each.dispatch_id !== null)?.dispatch_id ?? null;
  const decided = { outcome, status, stage, reason, event, delivery_id, verified, body_bytes, dispatch_id };
  return [{ id: idOf(n), at, profile, route, method, path, ...decided }];
}

function requestOf({ n, head, body }: RequestRow): KeptRequest | null {
  const known = headOf(head);
  if (known === null) return null;
  const base64 = body === null ? null : Buffer.from(body).toString('base64');
  const scheme = known.scheme === null ? null : realSource(known.scheme);
  return { id: idOf(n), ...known, scheme, body: base64 };
}

/** A damaged file of captured requests that was replaced. */
export interface LostRequests {
  /** Unix ms. */
  readonly at: number;
  /** The driver's error. */
  readonly reason: string;
  /** Size of the file and its write-ahead log. */
  readonly bytes: number;
}

/** The message for operators. */
export const lostText = ({ reason, bytes }: LostRequests): string =>
  `the file of captured requests was damaged (${reason}) and has been replaced by an empty one; ${bytes} bytes of captured requests are lost; events are not affected`;

export interface CaptureLimits {
  /** Requests with lower numbers have expired. */
  readonly before: number;
  readonly maxBytes: number;
}

/** The limits are enforced every minute, and whenever this share of the space has been written. */
const TRIM_SHARE = 1 / 32;

/** Stores rows, and enforces the limits. */
export class LimitedRows {
  private readonly rows: WriteRows;
  private untrimmed = 0;

  constructor(rows: WriteRows) {
    this.rows = rows;
  }

  /** Resolves to the number of rows stored. @param added new rows; none in the call of every minute */
  async store(added: readonly NewRequestRow[], { before, maxBytes }: CaptureLimits): Promise<number> {
    const stored = added.length === 0 ? 0 : await this.rows.add(added);
    for (const { head, body } of added) this.untrimmed += head.length + (body?.length ?? 0);
    if (added.length === 0 || this.untrimmed >= maxBytes * TRIM_SHARE) {
      this.untrimmed = 0;
      await this.rows.trim(before, maxBytes);
    }
    return stored;
  }
}

/** Returns a captured request in the form that the stages read. */
export const requestParts = (captured: Pick<KeptRequest, 'method' | 'path' | 'headers' | 'body'>): RequestParts =>
  partsOf(captured.method, captured.path, sentHeaders(captured.headers), Buffer.from(captured.body ?? '', 'base64'));

/** Returns the headers whose values were not removed. */
export const sentHeaders = (headers: KeptRequest['headers']): KeptRequest['headers'] =>
  headers.filter(([, value]) => !isMarker(value));

export interface VerifiedParts {
  readonly parts: RequestParts;
  /** The scheme of its valid signature; `none` if its route verifies no signatures. */
  readonly verifiedBy: string;
  /** Arrival time, in Unix ms. */
  readonly cameAt: number;
}

/** Returns null if the body was not captured because the request had no valid signature. */
export function verifiedParts(captured: KeptRequest): VerifiedParts | null {
  if (captured.body === null || !captured.verified) return null;
  return { parts: requestParts(captured), verifiedBy: captured.scheme ?? NO_SCHEME, cameAt: captured.at };
}

/** Says why the body is missing, for a request for which `verifiedParts` returns null. */
export function whyUnverified({ verified, status, outcome, stage }: KeptRequest): string {
  if (stage === 'credential' || stage === 'signature') return 'the request had no valid signature';
  return `the request was answered ${status} ${outcome}${verified ? '' : ' before its signature was verified'}`;
}

/** The scheme of a route that verifies no signatures. */
export const NO_SCHEME = 'none';
