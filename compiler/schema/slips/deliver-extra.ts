/** `deliver_extra: [{ chat_id: … }]`, `deliver_extra: "-1001234"`: an address that is not a map. */
import { holdsCredential } from '../../diagnostics/printable.ts';
import { flowText } from '../../text/flow-text.ts';
import { isPlainMap } from '../../text/plain-map.ts';
import { valueAt } from '../pointer.ts';
import { atValue } from '../shape-problem.ts';
import type { Slip } from './slip.ts';

export const extraWithoutMap: Slip = (place, { keyword }) => {
  if (keyword !== 'type' || place.path.at(-1) !== 'deliver_extra') return null;
  const found = valueAt(place.data, place.path);
  const keys = Array.isArray(found) ? merged(found) : chatIn(found);
  if (keys === null || holdsCredential(flowText(keys))) return null;
  const text = flowText(keys);
  const message = `\`deliver_extra\` is a map of keys and values: write \`deliver_extra: ${text}\``;
  return {
    ...atValue(place, 'wrong-type', message),
    fix: { kind: 'flow', text },
    fixAt: place.path,
    covers: [place.path],
  };
};

/** Merges the items into one map; null if they are not maps or have a key in common. */
function merged(items: readonly unknown[]): Readonly<Record<string, unknown>> | null {
  if (items.length === 0 || !items.every(isPlainMap)) return null;
  const entries = items.flatMap((item) => Object.entries(item));
  return new Set(entries.map(([key]) => key)).size < entries.length ? null : Object.fromEntries(entries);
}

/** Returns an address for text that can only be a chat: a long number, or a channel name. */
function chatIn(found: unknown): Readonly<Record<string, unknown>> | null {
  if (!['string', 'number'].includes(typeof found)) return null;
  return /^(?:-?\d{5,20}|[@#][\w-]+)$/.test(String(found)) ? { chat_id: String(found) } : null;
}
