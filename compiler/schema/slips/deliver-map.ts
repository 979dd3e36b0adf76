/** `deliver: { telegram: { chat_id: … } }`: target and address in one map. */
import { holdsCredential } from '../../diagnostics/printable.ts';
import { flowText } from '../../text/flow-text.ts';
import { isPlainMap } from '../../text/plain-map.ts';
import { valueAt } from '../pointer.ts';
import { atValue } from '../shape-problem.ts';
import type { Slip } from './slip.ts';

/** Keys that commonly name the target in such a map. */
const TARGET_KEYS = ['target', 'platform', 'type', 'to', 'name'];

export const deliverMap: Slip = (place, { keyword }) => {
  const found = valueAt(place.data, place.path);
  if (keyword !== 'type' || place.path.at(-1) !== 'deliver' || !isPlainMap(found)) return null;
  const message = '`deliver` lists targets and is not a map';
  const read = targetAndAddress(found);
  const parent = valueAt(place.data, place.path.slice(0, -1));
  if (read === null || holdsCredential(flowText(found))) {
    const hint = 'write `deliver: telegram`, and the address as `deliver_extra: { chat_id: "-1001234" }`';
    return { ...atValue(place, 'wrong-type', message), hint, covers: [place.path] };
  }
  const target = flowText(read.target);
  const extra = Object.keys(read.address).length === 0 ? undefined : `deliver_extra: ${flowText(read.address)}`;
  const lines = [`\`deliver: ${target}\``, ...(extra === undefined ? [] : [`\`${extra}\``])];
  const isFree = isPlainMap(parent) && !Object.hasOwn(parent, 'deliver_extra');
  return {
    ...atValue(place, 'wrong-type', `${message}: write ${lines.join(' and ')}`),
    ...(isFree
      ? { fix: { kind: 'flow', text: target, ...(extra === undefined ? {} : { andKey: extra }) }, fixAt: place.path }
      : {}),
    covers: [place.path],
  };
};

interface Read {
  readonly target: string;
  readonly address: Readonly<Record<string, unknown>>;
}

/** `{ telegram: { chat_id } }` and `{ target: telegram, chat_id }`. */
function targetAndAddress(map: Readonly<Record<string, unknown>>): Read | null {
  const [entry, second] = Object.entries(map);
  if (entry !== undefined && second === undefined && (isPlainMap(entry[1]) || entry[1] === null))
    return { target: entry[0], address: isPlainMap(entry[1]) ? entry[1] : {} };
  const key = TARGET_KEYS.find((name) => typeof map[name] === 'string');
  if (key === undefined) return null;
  const { [key]: target, ...address } = map;
  return { target: String(target), address };
}
