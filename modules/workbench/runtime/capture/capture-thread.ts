/**
 * The threads of request capture. One finishes requests: it finds why a signature is invalid, redacts secrets, and stores
 * the requests if the store is a file. The other one reads that file.
 */
import { createHash } from 'node:crypto';
import { parentPort, workerData } from 'node:worker_threads';
import { isNumber, readJson } from '../../../../base/exact-number.ts';
import { tryParseJson } from '../../../../base/files.ts';
import { Redactor, replaceInBytes } from '../../../../runtime/deliver/redact.ts';
import type { KeptHead } from '../../../../runtime/intake/keeper.ts';
import type { ParsedBody } from '../../../../runtime/intake/parse-body.ts';
import { parseBody } from '../../../../runtime/intake/parse-body.ts';
import type { NewRequestRow } from '../../../../runtime/store/shared.ts';
import { serveThread } from '../../../../runtime/store/sqlite/thread.ts';
import { partsOf } from '../../../../runtime/verify/request.ts';
import type { KeptFilter, KeptPage } from '../../../../schemas/built/operations/types.ts';
import type { LocatorPlan } from '../../../../schemas/generated/types.ts';
import { findCause } from '../causes/find-cause.ts';
import { BODY_MARKER } from '../removed.ts';
import type { BodyCredentials, UnfinishedRecord } from './record.ts';
import { NO_BODY } from './record.ts';
import { RequestFile, RequestFileReader } from './request-file.ts';
import type { CaptureLimits, LostRequests } from './requests.ts';
import { capturedRequests, LimitedRows } from './requests.ts';

export interface WriteRequest {
  readonly records: readonly UnfinishedRecord[];
  readonly limits: CaptureLimits;
  /** New secrets. `known` is the number of secrets that the thread already has. */
  readonly secrets: { readonly known: number; readonly added: readonly string[] };
}

export interface Stored {
  /** Number of stored requests. */
  readonly stored: number;
  /** The content of a damaged file that was replaced. */
  readonly lost: LostRequests | null;
}

export type RowsRequest =
  | { readonly kind: 'list'; readonly filter: KeptFilter; readonly page: KeptPage }
  | { readonly kind: 'load'; readonly id: string };

/** Finishes requests before they are stored, and holds the secrets to redact. */
export class Finisher {
  private redactor = new Redactor();

  /** Returns null, without finishing any, when it needs all secrets again. */
  finish({ records, secrets: { known, added } }: WriteRequest): readonly NewRequestRow[] | null {
    if (known !== this.redactor.secrets.size) {
      // The thread was restarted, or a write failed after new secrets were added.
      this.redactor = new Redactor();
      return null;
    }
    this.redactor.add(added);
    return records.map((captured) => finishRecord(captured, this.redactor));
  }
}

/** Finishes requests and stores them in a file. */
export class FileWriter {
  private readonly finisher = new Finisher();
  private readonly file: RequestFile;
  private readonly rows: LimitedRows;

  constructor(path: string) {
    this.file = new RequestFile(path);
    this.rows = new LimitedRows(this.file);
  }

  /** Resolves to null, with none stored, when it needs all secrets again. */
  async store(request: WriteRequest): Promise<Stored | null> {
    const finished = this.finisher.finish(request);
    if (finished === null) return null;
    const stored = await this.rows.store(finished, request.limits);
    return { stored, lost: this.file.takeLost() };
  }

  close(): void {
    this.file.close();
  }
}

/** @param redactor redacts all known secrets */
function finishRecord(captured: UnfinishedRecord, redactor: Redactor): NewRequestRow {
  const { number, head, body: bytes, credentials, refused } = captured;
  // A Buffer that was sent to another thread arrives as a Uint8Array.
  const body = bytes === null ? null : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const body_sha256 = body === null ? null : createHash('sha256').update(body).digest('hex');
  const cause = refused === null ? null : findCause({ ...refused, parts: { ...refused.parts, body: body ?? NO_BODY } });
  const storedBody = body === null || !head.verified ? null : withoutBodyCredentials(body, head, credentials);
  // A secret may be anywhere, such as in a custom header or in the output of a script.
  const clean = redactor.redact(JSON.stringify({ ...head, body_sha256, cause }));
  const { profile, route, outcome, reason } = JSON.parse(clean) as KeptHead;
  return {
    n: number,
    profile,
    route,
    outcome,
    reason,
    head: clean,
    body: storedBody === null ? null : redactor.redactBytes(storedBody),
  };
}

/** `path` is the path of the file. */
export type CaptureThreadData =
  | { readonly role: 'finish' }
  | { readonly role: 'write'; readonly path: string }
  | { readonly role: 'read'; readonly path: string };

if (parentPort !== null) {
  const data = workerData as CaptureThreadData;
  if (data.role === 'finish') {
    const finisher = new Finisher();
    serveThread<WriteRequest | null>(parentPort, (request) => (request === null ? null : finisher.finish(request)));
  } else if (data.role === 'write') {
    const writer = new FileWriter(data.path);
    serveThread<WriteRequest | null>(parentPort, (request) =>
      request === null ? writer.close() : writer.store(request),
    );
  } else {
    const reader = new RequestFileReader(data.path);
    const requests = capturedRequests(reader);
    serveThread<RowsRequest | null>(parentPort, (request): unknown => {
      if (request === null) return reader.close();
      return request.kind === 'list' ? requests.list(request.filter, request.page) : requests.load(request.id);
    });
  }
}

/** Shorter credentials are not searched for, because they occur everywhere. */
const MIN_LENGTH = 4;
/** Maximum depth of values that are searched. */
const MAX_DEPTH = 100;

/** Returns the body with a marker instead of each credential; null if a credential would remain, or cannot be searched for. */
export function withoutBodyCredentials(
  body: Buffer,
  { method, path, headers }: Pick<KeptHead, 'method' | 'path' | 'headers'>,
  { places, format }: BodyCredentials,
): Buffer | null {
  if (places.length === 0 || body.length === 0) return body;
  const parse = (bytes: Buffer): ParsedBody => parseBody(partsOf(method, path, headers, bytes).headers, bytes, format);
  const found = credentialsIn(parse(body), places);
  if (found === null || [...found].some(({ length }) => length < MIN_LENGTH)) return null;
  if (found.size === 0) return body;
  const cleaned = replaceInBytes(body, [...found], BODY_MARKER);
  return credentialsIn(parse(cleaned), places)?.size === 0 ? cleaned : null;
}

/** Returns the texts at these places; null if the body cannot be parsed. */
function credentialsIn(parsed: ParsedBody, places: readonly LocatorPlan[]): ReadonlySet<string> | null {
  if (parsed.payload === undefined) return null;
  const texts = places.flatMap((at) => valuesAt(parsed, at).flatMap((value) => [...textsAt(value, at.path, 0)]));
  return new Set(texts.filter((text) => text !== '' && !text.includes(BODY_MARKER)));
}

/** Returns all values of repeated fields. */
function valuesAt({ payload, form }: ParsedBody, { in: place, name, path }: LocatorPlan): readonly unknown[] {
  if (place === 'json') return [payload, ...(form?.getAll(path.at(-1) ?? '') ?? []).map((text) => wrap(path, text))];
  if (place !== 'form') return [];
  const fields = form?.getAll(name) ?? [];
  return path.length === 0 ? fields : fields.map((field) => tryParseJson(field, readJson));
}

/** Wraps a field in an object, so that it has this path; undefined if the path is longer than one name. */
const wrap = ([name = '', ...rest]: readonly string[], text: string): unknown =>
  rest.length === 0 ? { [name]: text } : undefined;

/** Yields texts and numbers at a path, in which `*` is any key or index and `**` any number of them. */
function* textsAt(value: unknown, path: readonly string[], depth: number): Iterable<string> {
  const [key, ...rest] = path;
  if (key === undefined) {
    if (typeof value === 'string' || isNumber(value)) yield String(value);
    return;
  }
  if (key === '**') yield* textsAt(value, rest, depth);
  if (typeof value !== 'object' || value === null || depth > MAX_DEPTH) return;
  if (key === '*' || key === '**') {
    for (const child of Object.values(value)) yield* textsAt(child, key === '*' ? rest : path, depth + 1);
  } else if (Object.hasOwn(value, key)) {
    yield* textsAt((value as Record<string, unknown>)[key], rest, depth + 1);
  }
}
