/**
 * Parses a body into the payload, in the format of its source or by its content type. Used by the parse stage and by schemes
 * that sign parts of the body.
 */
import { isUtf8 } from 'node:buffer';
import type { IncomingHttpHeaders } from 'node:http';
import type { SchemePlan } from '../../schemas/generated/types.ts';
import type { DecodingFault } from './decode-body.ts';
import { toUtf8 } from './decode-body.ts';
import type { PayloadFault } from './parse-json.ts';
import { parseJson, readUtf8 } from './parse-json.ts';
import type { XmlFault } from './parse-xml.ts';
import { parseXml } from './parse-xml.ts';

export interface ParsedBody {
  /** Undefined after a fault. */
  readonly payload: unknown;
  /** The fields, if the body is a form. */
  readonly form: URLSearchParams | null;
  readonly fault: BodyFormatFault | null;
}

/** Malformed bodies (400), except those of `decode-body.ts`, and `content_type` (415). */
export type BodyFormatFault = PayloadFault | XmlFault | DecodingFault | 'no_form' | 'too_many_fields' | 'content_type';

export type BodyFormat = NonNullable<SchemePlan['body']>;

const PARSERS: Readonly<Record<BodyFormat, (body: Buffer) => ParsedBody>> = {
  json: (body) => payloadOf(body, null),
  form: parseForm,
  text: (body) => parseText(body, (text) => ({ ok: true, value: { text } })),
  xml: (body) => parseText(body, parseXml),
};

/** Maximum number of fields of a form; real ones have far fewer. */
const MAX_FIELDS = 10_000;
/** Maximum length of the first name of a form, in UTF-16 units. */
const MAX_NAME = 256;
/**
 * The name at the start of a form (decisions §4). It matches neither JSON nor the signed content of a scheme with a timestamp:
 * content that starts with the timestamp fails at the first digit; content with an id before it fails at the digits after a
 * dot.
 */
const FIRST_NAME = /^(?!.*\.\d{9,}\.)[A-Za-z_][A-Za-z0-9_.[\]-]*$/;
const NAME_END = /[=&]/;
const ESCAPES = /(?:%[0-9a-fA-F]{2})+/g;

/**
 * Parses a body whose content encoding is undone. @param format the format of the route's source; null: the content type
 * decides. @param allowEmpty an empty body is `{}`
 */
export function parseBody(
  headers: IncomingHttpHeaders,
  body: Buffer,
  format: BodyFormat | null = null,
  allowEmpty = false,
): ParsedBody {
  if (body.length === 0 && allowEmpty) return { payload: {}, form: null, fault: null };
  const type = headers['content-type'];
  const found = format ?? formatOf(type);
  if (found === null) return fault('content_type');
  const utf8 = type === undefined || type === 'application/json' ? body : toUtf8(type, body, found === 'form');
  return typeof utf8 === 'string' ? fault(utf8) : PARSERS[found](utf8);
}

/** The types that count as JSON (decisions §3). A doubled content type counts if all of its types mean the same. */
function formatOf(contentType: string | undefined): 'json' | 'form' | null {
  if (contentType === undefined || contentType === 'application/json') return 'json';
  const [format = null, ...others] = new Set(contentType.split(',').map(formatOfType));
  return others.length === 0 ? format : null;
}

function formatOfType(contentType: string): 'json' | 'form' | null {
  const end = contentType.indexOf(';');
  const type = (end < 0 ? contentType : contentType.slice(0, end)).trim().toLowerCase();
  if (type === 'application/x-www-form-urlencoded') return 'form';
  return JSON_TYPES.has(type) || type.endsWith('+json') ? 'json' : null;
}

const JSON_TYPES: ReadonlySet<string> = new Set([
  '',
  'application/json',
  'text/json',
  'text/plain',
  '*/*',
  'application/octet-stream',
]);

type ParseText = (text: string) => { ok: true; value: unknown } | { ok: false; fault: BodyFormatFault };

function parseText(body: Buffer, parse: ParseText): ParsedBody {
  if (body.length === 0) return fault('empty');
  const text = readUtf8(body);
  if (text === null) return fault('not_utf8');
  const parsed = parse(text);
  return parsed.ok ? { payload: parsed.value, form: null, fault: null } : fault(parsed.fault);
}

/** A form with the single field `payload` contains JSON, as code hosts send it; any other becomes an object of strings. */
function parseForm(body: Buffer): ParsedBody {
  if (body.length === 0) return fault('empty');
  if (!isUtf8(body)) return fault('not_utf8');
  const text = body.toString('utf8');
  if (countFields(text) > MAX_FIELDS) return fault('too_many_fields');
  if (!escapesUtf8(text)) return fault('not_utf8');
  if (!looksLikeForm(text)) return fault('no_form');
  const form = new URLSearchParams(text);
  const payload = form.size === 1 ? form.get('payload') : null;
  // If a name is repeated, its last field counts. `fromEntries` defines own properties, including `__proto__`.
  return payload === null
    ? { payload: Object.fromEntries(form), form, fault: null }
    : payloadOf(Buffer.from(payload), form);
}

/**
 * The content type is not signed. An attacker who resends signed JSON as a form, or the signed content of one scheme as the
 * body of another, must not get a different payload accepted.
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

/** True if all percent escapes are valid UTF-8; URLSearchParams would replace invalid ones with U+FFFD. */
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

export function fault(fault: BodyFormatFault, form: URLSearchParams | null = null): ParsedBody {
  return { payload: undefined, form, fault };
}
