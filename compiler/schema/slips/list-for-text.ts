/** `prompt: ["Hello", "{ref}"]`: lines as a list where text is expected. */
import { holdsCredential } from '../../diagnostics/printable.ts';
import { flowText } from '../../text/flow-text.ts';
import { isSecretName } from '../../text/secret-names.ts';
import { typesOf } from '../alternatives.ts';
import { valueAt } from '../pointer.ts';
import { atValue, nameOf } from '../shape-problem.ts';
import type { Slip } from './slip.ts';

/** Keys for multi-line texts. */
const LINES: ReadonlySet<string> = new Set(['prompt', 'description']);

export const listForText: Slip = (place, { keyword, params }) => {
  const found = valueAt(place.data, place.path);
  const name = nameOf(place.path);
  if (keyword !== 'type' || !typesOf(params).includes('string') || !Array.isArray(found)) return null;
  const items: readonly unknown[] = found;
  if (!items.every((item) => typeof item === 'string') || items.length === 0) return null;
  if (isSecretName(name) || holdsCredential(items.join('\n')) || (items.length > 1 && !LINES.has(name))) return null;
  const text = flowText(items.join('\n'));
  const message = `\`${name}\` must be text, not a list: write \`${name}: ${text}\``;
  const hint = items.length > 1 ? { hint: `write a multi-line text below \`${name}: |\`, indented` } : {};
  return { ...atValue(place, 'wrong-type', message), ...hint, fix: { kind: 'flow', text }, fixAt: place.path };
};
