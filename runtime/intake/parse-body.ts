/** Parses a body by its content type into the payload, for the parse stage and for schemes that sign a part of it. */
import { isUtf8 } from 'node:buffer';
import type { IncomingHttpHeaders } from 'node:http';
import type { PayloadFault } from './parse-json.ts';
import { parseJson } from './parse-json.ts';

export interface ParsedBody {
  /** undefined when there is a fault. */
  readonly payload: unknown;
  /** The fields, when the body is a form. */
  readonly form: URLSearchParams | null;
  readonly fault: BodyFormatFault | null;
}

/** The last two cannot be parsed at all (415), the others are malformed (400). */
export type BodyFormatFault = PayloadFault | 'no_form' | 'too_many_fields' | 'content_encoding' | 'content_type';

type Media = 'json' | 'form' | 'other';

/** More fields than any form a person or a service sends. */
const MAX_FIELDS = 10_000;
/** Longest first name of a form, in UTF-16 units. */
const MAX_NAME = 256;
/**
 * What a form begins with (decisions §4). No JSON text does, and no signed content of a scheme with a timestamp: one that
 * begins with the instant fails at its first digit, one with an id before it at the digits between two dots.
 */
const FIRST_NAME = /^(?!.*\.\d{9,}\.)[A-Za-z_][A-Za-z0-9_.[\]-]*$/;
const NAME_END = /[=&]/;
const ESCAPES = /(?:%[0-9a-fA-F]{2})+/g;

export function parseBody(headers: IncomingHttpHeaders, body: Buffer): ParsedBody {
  const encoding = headers['content-encoding'];
  if (encoding !== undefined && encoding !== '' && encoding.toLowerCase() !== 'identity')
    return fault('content_encoding');
  const media = mediaOf(headers['content-type']);
  if (media === 'other') return fault('content_type');
  return media === 'form' ? parseForm(body) : payloadOf(body, null);
}

/** No content type at all is JSON (decisions §3). */
function mediaOf(contentType: string | undefined): Media {
  if (contentType === undefined || contentType === 'application/json') return 'json';
  const end = contentType.indexOf(';');
  const type = (end < 0 ? contentType : contentType.slice(0, end)).trim().toLowerCase();
  if (type === 'application/x-www-form-urlencoded') return 'form';
  return type === '' || type === 'application/json' || type.endsWith('+json') ? 'json' : 'other';
}

/** A form whose one field is `payload` carries JSON, as code hosts send it; any other is an object of strings. */
function parseForm(body: Buffer): ParsedBody {
  if (body.length === 0) return fault('empty');
  if (!isUtf8(body)) return fault('not_utf8');
  const text = body.toString('utf8');
  if (countFields(text) > MAX_FIELDS) return fault('too_many_fields');
  if (!escapesUtf8(text)) return fault('not_utf8');
  if (!looksLikeForm(text)) return fault('no_form');
  const form = new URLSearchParams(text);
  const payload = form.size === 1 ? form.get('payload') : null;
  return payload === null ? { payload: objectOf(form), form, fault: null } : payloadOf(Buffer.from(payload), form);
}

/**
 * The content type is not signed: somebody who sends signed JSON again as a form, or the signed content of one scheme as
 * the body of another, must not be given another payload for it.
 */
function looksLikeForm(text: string): boolean {
  const end = text.search(NAME_END);
  if (end < 0 || end > MAX_NAME) return false;
  try {
    return FIRST_NAME.test(decodeURIComponent(text.slice(0, end)));
  } catch {
    return false;
  }
}

function payloadOf(bytes: Buffer, form: URLSearchParams | null): ParsedBody {
  const parsed = parseJson(bytes);
  return parsed.ok ? { payload: parsed.value, form, fault: null } : fault(parsed.fault, form);
}

/** Whether every run of percent escapes is UTF-8: URLSearchParams would put U+FFFD in place of one that is not. */
function escapesUtf8(text: string): boolean {
  try {
    for (const [run] of text.matchAll(ESCAPES)) decodeURIComponent(run);
    return true;
  } catch {
    return false;
  }
}

function countFields(text: string): number {
  let count = 1;
  for (let at = text.indexOf('&'); at >= 0; at = text.indexOf('&', at + 1)) count++;
  return count;
}

/** The last of several fields of one name stays. `fromEntries` defines own properties, `__proto__` included. */
function objectOf(form: URLSearchParams): Record<string, string> {
  return Object.fromEntries(form);
}

function fault(fault: BodyFormatFault, form: URLSearchParams | null = null): ParsedBody {
  return { payload: undefined, form, fault };
}
