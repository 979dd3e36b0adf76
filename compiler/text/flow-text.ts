/** Prints plain data as one line of YAML, for messages and fixes. */
import { isPlainMap } from './plain-map.ts';

/** Text that needs no quotes, not even inside brackets and braces. */
const PLAIN = /^(?![~-]$)[A-Za-z_/.~-](?:[\w ./~*?@+-]*[\w./~*?+-])?$/;
/** Words that YAML 1.1 or 1.2 does not read as text. */
const WORDS = /^(?:true|false|null|yes|no|on|off|y|n|~|-?\.(?:inf|nan)|-?\.?\d.*)$/i;

/** Quotes strings only where YAML requires it. */
export function flowText(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(flowText).join(', ')}]`;
  if (isPlainMap(value)) {
    const pairs = Object.entries(value).map(([key, item]) => `${flowText(key)}: ${flowText(item)}`);
    return pairs.length === 0 ? '{}' : `{ ${pairs.join(', ')} }`;
  }
  return typeof value === 'string' && PLAIN.test(value) && !WORDS.test(value) ? value : JSON.stringify(value ?? null);
}
