/** Reads the request that a command line names: a body, a saved request (raw HTTP, HAR), or a captured request. */

import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { isSystemError, messageOf } from '../../../../base/errors.ts';
import type { CliContext } from '../../../../cli/base/context.ts';
import { CliError, UsageError } from '../../../../cli/base/errors.ts';
import type { RequestParts } from '../../../../runtime/verify/request.ts';
import { partsOf } from '../../../../runtime/verify/request.ts';
import type { KeptRequest } from '../../../../schemas/built/operations/types.ts';
import type { VerifiedParts } from '../../runtime/capture/requests.ts';
import { verifiedParts, whyUnverified } from '../../runtime/capture/requests.ts';
import type { HeaderPairs } from '../sources/read-capture.ts';
import { findRequest, useRequests } from '../use-requests.ts';
import { outcomeText } from './format-explanation.ts';

interface NamedRequest {
  /** `@file`, `-` for stdin, or the body itself. */
  readonly payload: string;
  /** Each is `Name: value`. They replace headers of a saved request. */
  readonly headers: readonly string[];
  /** Path of the route. */
  readonly path: string;
}

export interface ReadRequest {
  readonly parts: RequestParts;
  /** Changes that were necessary to read it. */
  readonly notes: readonly string[];
}

/** @throws CliError if the file is missing or contains no request; UsageError for an invalid header */
export async function readRequest(context: CliContext, { payload, headers, path }: NamedRequest): Promise<ReadRequest> {
  const bytes = await readBytes(context, payload);
  const sent = headers.map(parseHeader);
  if (isSavedRequest(bytes)) return readSaved(bytes, sent, path);
  return { parts: requestTo(path, sent, bytes), notes: [] };
}

/** A request to this gateway: like every client, it names the host. */
export function requestTo(url: string, headers: HeaderPairs, body: Buffer, method = 'POST'): RequestParts {
  const namesHost = headers.some(([name]) => name.toLowerCase() === 'host');
  return partsOf(method, url, namesHost ? headers : [['Host', 'localhost'], ...headers], body);
}

/** Reads a saved request as if it had been sent to this path with these headers. */
export async function readSaved(bytes: Buffer, headers: HeaderPairs, path: string): Promise<ReadRequest> {
  const { parts, notes } = await savedFor(path, bytes);
  const mark = parts.url.indexOf('?');
  const replaced = new Set(headers.map(([name]) => name.toLowerCase()));
  const others = pairsOf(parts.rawHeaders).filter(([name]) => !replaced.has(name.toLowerCase()));
  const url = mark < 0 ? path : path + parts.url.slice(mark);
  return { parts: requestTo(url, [...others, ...headers], parts.body, parts.method), notes };
}

async function readBytes(context: CliContext, payload: string): Promise<Buffer> {
  if (payload === '-') return buffer(context.stdin);
  return payload.startsWith('@') ? readPayloadFile(context, payload.slice(1)) : inlineBody(payload);
}

/** @throws CliError if it cannot be read */
export function readPayloadFile({ cwd }: CliContext, name: string): Buffer {
  try {
    return readFileSync(resolve(cwd, name));
  } catch (error) {
    if (!isSystemError(error)) throw error;
    throw new CliError(
      `the payload \`${name}\` ${error.code === 'ENOENT' ? 'does not exist' : `cannot be read (${error.code})`}`,
      `the file was expected at ${resolve(cwd, name)}`,
    );
  }
}

/** A body on the command line must be JSON, so that a file name without its @ is not mistaken for a body. */
export function inlineBody(text: string): Buffer {
  try {
    JSON.parse(text);
  } catch (error) {
    throw new UsageError(
      `--payload is not JSON: ${messageOf(error)}`,
      'to read a file, put an @ before its name: --payload @event.json',
    );
  }
  return Buffer.from(text, 'utf8');
}

/** Decides by the first bytes: JSON is a body, unless it is a HAR file. */
function isSavedRequest(bytes: Buffer): boolean {
  const start = bytes.subarray(0, 4096).toString('latin1').trimStart();
  if (/^[A-Z]+ \S+ HTTP\/\d/.test(start)) return true;
  return /^\{\s*"log"\s*:\s*\{/.test(start) && /"entries"\s*:/.test(bytes.toString('latin1'));
}

/** Returns the first request that was sent to this path; if there is none, the first request. */
async function savedFor(path: string, bytes: Buffer): Promise<ReadRequest> {
  // Loaded on demand, because most payloads are bodies.
  const { readCapture } = await import('../sources/read-capture.ts');
  const all = readCapture(bytes);
  const [first] = all;
  if (first === undefined) throw new CliError('the file contains no request with a body');
  const chosen = all.find(({ parts }) => pathOf(parts) === path) ?? first;
  const which = `request ${all.indexOf(chosen) + 1} of ${all.length} in the file`;
  return { parts: chosen.parts, notes: [...chosen.notes, ...(all.length === 1 ? [] : [which])] };
}

const pathOf = ({ url }: RequestParts): string => new URL(url, 'http://localhost').pathname;

function parseHeader(text: string): readonly [name: string, value: string] {
  const [, name, value] = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):\s*(.*)$/.exec(text) ?? [];
  if (name === undefined || value === undefined)
    throw new UsageError(`invalid --header "${text}": 'Name: value' is expected`);
  return [name, value.trim()];
}

function pairsOf(rawHeaders: readonly string[]): HeaderPairs {
  return rawHeaders.flatMap((name, at) => (at % 2 === 0 ? [[name, rawHeaders[at + 1] ?? ''] as const] : []));
}

export interface CapturedInput extends VerifiedParts, ReadRequest {
  readonly route: string;
  /** Its original answer: `502 delivery_failed`. */
  readonly answered: string;
}

/** @param id an id or the beginning of one @throws CliError if there is no such request, or its body was not captured */
export async function readCaptured(context: CliContext, id: string): Promise<CapturedInput> {
  const found = await useRequests(context, (requests) => findRequest(requests, id));
  return {
    ...requireVerifiedParts(found),
    route: found.route,
    answered: `${found.status} ${outcomeText(found)}`,
    notes: [],
  };
}

/** @throws CliError if it was not captured */
export function bodyOf(captured: KeptRequest): Buffer {
  const { id, body, verified } = captured;
  if (body !== null) return Buffer.from(body, 'base64');
  const why = verified ? 'the body was not read, or contains a credential' : whyUnverified(captured);
  throw new CliError(`the body of request ${id} was not captured: ${why}`);
}

/** @throws CliError if its body was not captured */
export function requireVerifiedParts(captured: KeptRequest): VerifiedParts {
  const parts = verifiedParts(captured);
  if (parts !== null) return parts;
  throw new CliError(
    `the body of ${captured.id} was not captured: ${whyUnverified(captured)}`,
    `see why: hookwright requests show ${captured.id}`,
  );
}
