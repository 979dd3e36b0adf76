/** The last steps before a request is stored, off the event loop: finds why its signature was refused, and redacts secrets. */
import { createHash } from 'node:crypto';
import type { Redact } from '../../../../runtime/deliver/redact.ts';
import type { KeptHead } from '../../../../runtime/intake/kept-request.ts';
import { findCause } from '../../../../runtime/verify/find-cause.ts';
import { readLocatedText } from '../../../../runtime/verify/locator.ts';
import { BODY_MARKER } from '../../../../runtime/verify/removed.ts';
import { LazyRequest } from '../../../../runtime/verify/request.ts';
import type { LocatorPlan } from '../../../../schemas/generated/types.ts';
import type { Captured } from './captured.ts';

export interface FinishedRecord {
  readonly head: KeptHead;
  readonly body: Buffer | null;
}

/** @param redact replaces all known secrets */
export function finishRecord({ head, body: bytes, credentials, refused }: Captured, redact: Redact): FinishedRecord {
  // A Buffer that was sent to another thread arrives as a Uint8Array.
  const body = bytes === null ? null : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const body_sha256 = body === null ? null : createHash('sha256').update(body).digest('hex');
  const cause = refused === null ? null : findCause({ ...refused, parts: { ...refused.parts, body: body ?? NO_BODY } });
  const kept = body === null || !head.verified ? null : withoutCredentials(body, head, credentials);
  return {
    head: redactHead({ ...head, body_sha256, cause }, redact),
    body: kept === null ? null : redactBytes(kept, redact),
  };
}

/** A secret may be anywhere, such as in a custom header or in the output of a script. */
function redactHead(head: KeptHead, redact: Redact): KeptHead {
  const text = JSON.stringify(head);
  const clean = redact(text);
  return clean === text ? head : (JSON.parse(clean) as KeptHead);
}

/** Works on bytes, whatever the encoding. */
function redactBytes(body: Buffer, redact: Redact): Buffer {
  const text = body.toString('latin1');
  const clean = redact(text);
  return clean === text ? body : Buffer.from(clean, 'latin1');
}

const NO_BODY = Buffer.alloc(0);

/** Replaces credentials in the body; null when one would remain, in a spelling that is not found. */
function withoutCredentials(body: Buffer, head: KeptHead, places: readonly LocatorPlan[]): Buffer | null {
  let kept = body;
  for (const at of places) {
    const value = readLocatedText(at, requestOf(head, kept));
    if (value === null || value === '' || value === BODY_MARKER) continue;
    kept = replaceAll(kept, value, BODY_MARKER);
    if (readLocatedText(at, requestOf(head, kept)) === value) return null;
  }
  return kept;
}

function requestOf({ method, path, headers }: KeptHead, body: Buffer): LazyRequest {
  const named = Object.fromEntries(headers.map(([name, value]) => [name.toLowerCase(), value]));
  return new LazyRequest({ method, url: path, headers: named, rawHeaders: headers.flat(), body });
}

/** Replaces a text in its plain, JSON and form spellings. */
function replaceAll(body: Buffer, value: string, by: string): Buffer {
  const spellings = [value, JSON.stringify(value).slice(1, -1), new URLSearchParams({ v: value }).toString().slice(2)];
  const latin1 = (text: string): string => Buffer.from(text, 'utf8').toString('latin1');
  const text = spellings.reduce((rest, spelling) => rest.replaceAll(latin1(spelling), by), body.toString('latin1'));
  return Buffer.from(text, 'latin1');
}
