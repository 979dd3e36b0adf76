/** Removes credentials from texts in which URLs stand: request targets, and headers in which a proxy forwards them. */
import { decodedLayers } from '../../../../runtime/deliver/redact/decode-escapes.ts';
import { marker } from '../removed.ts';

/** A parameter name and `=`. It starts after a separator, so that a long text is searched only once. */
const PARAMETER = /(?<![^?&;#\s=/])[^?&;#\s=/]+=/g;
const USER = /:\/\/[^/?#\s]*@/g;
const MAY_HOLD = /[=@%\\]/;
/** A URL in a parameter of a URL in a parameter is escaped twice. */
const MAX_LAYERS = 3;

interface Found {
  readonly start: number;
  readonly end: number;
  /** The kind of credential. */
  readonly what: string;
}

/**
 * Replaces the user part and secret parameters of URLs with markers, also of URLs that are escaped inside of others.
 * @param whatOf the kind of credential that a parameter of this name is; null for any other
 */
export function replaceUrlCredentials(text: string, whatOf: (name: string) => string | null): string {
  if (!MAY_HOLD.test(text)) return text;
  const found = [...findCredentials(text, whatOf)];
  for (const { text: inner, starts } of decodedLayers(text, MAX_LAYERS))
    for (const { start, end, what } of findCredentials(inner, whatOf))
      found.push({ start: starts[start] ?? 0, end: starts[end] ?? text.length, what });
  let kept = '';
  let copied = 0;
  for (const { start, end, what } of found.sort((a, b) => a.start - b.start || b.end - a.end)) {
    if (start >= copied) kept += text.slice(copied, start) + encodeURIComponent(marker(what));
    copied = Math.max(copied, end);
  }
  return kept + text.slice(copied);
}

/** A value ends at `&` or white space, not at `;`, which some parsers read as part of the value. */
function* findCredentials(text: string, whatOf: (name: string) => string | null): Iterable<Found> {
  for (const { 0: user, index } of text.matchAll(USER))
    yield { start: index + '://'.length, end: index + user.length - 1, what: 'credentials' };
  let end = 0;
  for (const { 0: name, index } of text.matchAll(PARAMETER)) {
    const what = index < end ? null : whatOf(parameterName(name));
    if (what === null) continue;
    const start = index + name.length;
    const length = text.slice(start).search(/[&\s]/);
    end = length < 0 ? text.length : start + length;
    if (end > start) yield { start, end, what };
  }
}

/** The decoded name without brackets: `token` for `%74oken[]=`. */
function parameterName(start: string): string {
  const [name = ''] = new URLSearchParams(start).keys();
  return name.replace(/\[.*$/s, '');
}
