/** The application link of a blueprint: `hookwright://blueprint/<key>?name=value&…`, form-encoded, printed and read back. */
import type { ParsedTrigger, Trigger } from './trigger.ts';
import { createTrigger } from './trigger.ts';

/** Prints a link. Values must be well-formed Unicode; URLs cannot represent anything else. */
export function printLink({ key, values }: Trigger, appScheme: string): string {
  return `${appScheme}://blueprint/${key}?${new URLSearchParams(Object.entries(values)).toString()}`;
}

const LINK = /^\s*([A-Za-z][A-Za-z0-9+.-]*):\/\/blueprint\/([^/?#\s]+)\/?(?:\?([^#]*))?(?:#.*)?$/s;

/** Parses a link. Ignores what systems add to links: upper case in the scheme, a slash after the key, a fragment. */
export function parseLink(text: string, appScheme: string): ParsedTrigger {
  const match = LINK.exec(text.trimEnd());
  if (match === null)
    return { ok: false, message: `a link has the form \`${appScheme}://blueprint/<key>?name=value\`` };
  const [, scheme = '', key = '', query = ''] = match;
  if (scheme.toLowerCase() !== appScheme) {
    return { ok: false, message: `the link's scheme is \`${scheme}\`, not \`${appScheme}\`` };
  }
  return createTrigger(key, new URLSearchParams(query));
}
