/** `env: [MODE=fast]`, `env: [{ name: MODE, value: fast }]`: variables as in configs of containers. */
import { holdsCredential } from '../../diagnostics/printable.ts';
import { flowText } from '../../text/flow-text.ts';
import { isPlainMap } from '../../text/plain-map.ts';
import { valueAt } from '../pointer.ts';
import { atValue } from '../shape-problem.ts';
import type { Slip } from './slip.ts';

export const envList: Slip = (place, { keyword }) => {
  const found = valueAt(place.data, place.path);
  if (keyword !== 'type' || place.path.at(-1) !== 'env' || !Array.isArray(found)) return null;
  const pairs = found.map(pairOf);
  const variables = Object.fromEntries(pairs.flatMap((pair) => (pair === null ? [] : [pair])));
  const problem = atValue(place, 'wrong-type', '`env` is a map of names and values');
  const isRead = pairs.length > 0 && Object.keys(variables).length === found.length;
  const text = flowText(variables);
  const isSecret = Object.entries(variables).some(
    ([name, value]) => !REFERENCE.test(value) && holdsCredential(`${name}=${value}`),
  );
  // The message must not repeat a secret.
  if (!isRead || isSecret)
    return { ...problem, hint: 'write `NAME: value` for each, below `env:`', covers: [place.path] };
  return {
    ...problem,
    message: `${problem.message}: write \`env: ${text}\``,
    fix: { kind: 'flow', text },
    fixAt: place.path,
    covers: [place.path],
  };
};

const REFERENCE = /^(?:env|file):/;

/** Returns null if the item is neither `NAME=value` nor a map with name and value. */
function pairOf(item: unknown): readonly [string, string] | null {
  if (typeof item === 'string') {
    const [, name, value] = /^([A-Za-z_]\w*)=(.*)$/.exec(item) ?? [];
    return name === undefined || value === undefined ? null : [name, value];
  }
  if (!isPlainMap(item)) return null;
  const { name, value, ...others } = item;
  const isPair = typeof name === 'string' && ['string', 'number'].includes(typeof value);
  return isPair && Object.keys(others).length === 0 ? [name, String(value)] : null;
}
