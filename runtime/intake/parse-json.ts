/** Parses untrusted JSON for the parse stage, with strict UTF-8 and bounded depth. */
import { isAscii, isUtf8 } from 'node:buffer';
import { endOfString, readJson } from '../../base/exact-number.ts';

/** Maximum nesting of a payload (decisions §3). Code after the parse stage may recurse to this depth. */
export const MAX_DEPTH = 200;

export type PayloadFault = 'empty' | 'not_utf8' | 'too_deep' | 'not_json';

type ParsedJson = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly fault: PayloadFault };

const QUOTE = 0x22;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** Parses the bytes. Numbers keep their text (base/exact-number.ts). `__proto__` becomes an own property, like any other key. A byte order mark is skipped. */
export function parseJson(bytes: Buffer): ParsedJson {
  if (bytes.length === 0) return { ok: false, fault: 'empty' };
  const text = readUtf8(bytes);
  if (text === null) return { ok: false, fault: 'not_utf8' };
  if (mayNestDeeply(text) && nestsDeeply(text)) return { ok: false, fault: 'too_deep' };
  try {
    return { ok: true, value: readJson(text.charCodeAt(0) === 0xfeff ? text.slice(1) : text) };
  } catch {
    return { ok: false, fault: 'not_json' };
  }
}

/** Decodes UTF-8; null if the bytes are invalid. ASCII, the common case, is read as Latin-1, which is faster. */
export function readUtf8(bytes: Buffer): string | null {
  if (isAscii(bytes)) return bytes.toString('latin1');
  return isUtf8(bytes) ? bytes.toString('utf8') : null;
}

/** True if there are enough opening brackets to nest too deeply; counting them is far cheaper than a full scan. */
function mayNestDeeply(text: string): boolean {
  let open = 0;
  for (let at = text.indexOf('{'); at >= 0; at = text.indexOf('{', at + 1)) if (++open > MAX_DEPTH) return true;
  for (let at = text.indexOf('['); at >= 0; at = text.indexOf('[', at + 1)) if (++open > MAX_DEPTH) return true;
  return false;
}

/** True if brackets outside strings nest too deeply. Unspecified for invalid JSON. */
function nestsDeeply(text: string): boolean {
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit === QUOTE) at = endOfString(text, at);
    else if (unit === OPEN_OBJECT || unit === OPEN_LIST) {
      if (++depth > MAX_DEPTH) return true;
    } else if (unit === CLOSE_OBJECT || unit === CLOSE_LIST) depth--;
  }
  return false;
}
