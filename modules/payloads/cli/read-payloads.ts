/** Reads the requests that `source learn` learns from: payloads as JSON, and what `source detect` reads. */

import { messageOf } from '../../../base/message-of.ts';
import { CliError } from '../../../cli/base/errors.ts';
import type { SavedRequest } from '../../../cli/base/module.ts';
import type { LoweredSource } from '../../../compiler/lower/default-sources.ts';
import { UNKNOWN_EVENT } from '../../../runtime/intake/stages/identify.ts';
import { readFirst } from '../../../runtime/verify/locator.ts';
import { LazyRequest, partsOf } from '../../../runtime/verify/request.ts';
import type { KeptRequest } from '../../../schemas/built/operations/types.ts';

export interface LearnedRequest {
  readonly event: string;
  readonly payload: unknown;
}

/** The name of an event that does not name itself. */
export const UNNAMED = '*';

/** @param source whose events are told apart as a gateway tells them; null: by the payload alone @throws CliError when the file is neither */
export function readPayloads(
  bytes: Buffer,
  source: LoweredSource | null,
  readSaved: (bytes: Buffer) => readonly SavedRequest[],
): readonly LearnedRequest[] {
  const requests = isPayload(bytes) ? [{ label: '', parts: partsOf('POST', '/', [], bytes) }] : readSaved(bytes);
  return requests.map((capture) => {
    const request = new LazyRequest(capture.parts);
    const payload = request.payload();
    if (payload === undefined)
      throw new CliError(`a request has no body that can be read${capture.label === '' ? '' : `: ${capture.label}`}`);
    const named = source === null ? null : readFirst(source.plan.event, request, true);
    return { event: named ?? eventIn(payload) ?? UNNAMED, payload };
  });
}

/** A kept request, with the event that the gateway found. */
export function keptPayload({ id, event, method, path, headers, body }: KeptRequest): LearnedRequest {
  const payload = new LazyRequest(partsOf(method, path, headers, Buffer.from(body ?? '', 'base64'))).payload();
  if (payload === undefined) throw new CliError(`the body of ${id} cannot be read`);
  return { event: event === '' || event === UNKNOWN_EVENT ? UNNAMED : event, payload };
}

/** JSON that is not a HAR file. */
function isPayload(bytes: Buffer): boolean {
  const start = bytes
    .subarray(0, 64)
    .toString('latin1')
    .replace(/^\xef\xbb\xbf/, '')
    .trimStart();
  if (!start.startsWith('{') && !start.startsWith('[')) return false;
  let value: unknown;
  try {
    value = JSON.parse(bytes.toString('utf8').replace(/^\ufeff/, ''));
  } catch (error) {
    throw new CliError(`not JSON: ${messageOf(error)}`);
  }
  const log = propertyOf(value, 'log');
  return propertyOf(log, 'entries') === undefined;
}

/** Where an event is named when its source says nothing (§6.1). */
function eventIn(payload: unknown): string | null {
  const names = [propertyOf(payload, 'event_type'), propertyOf(payload, 'type')];
  return names.find((name): name is string => typeof name === 'string' && name !== '') ?? null;
}

const propertyOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Record<string, unknown>)[name]
    : undefined;
