/** `port: "8644:8644"`, `ports: [8644]`, `listen: 127.0.0.1:8644`: addresses as in configs of containers and servers. */
import { isPlainMap } from '../../text/plain-map.ts';
import { knownKeys } from '../known-keys.ts';
import { valueAt } from '../pointer.ts';
import { atValue } from '../shape-problem.ts';
import type { Slip } from './slip.ts';

/** `port: "8080:8644"`: the gateway listens on the last port. */
export const publishedPort: Slip = (place, { keyword }) => {
  const found = valueAt(place.data, place.path);
  if (keyword !== 'type' || place.path.at(-1) !== 'port' || /^\d*$/.test(String(found))) return null;
  const port = lastPort(found);
  if (port === null) return null;
  const message = `\`port\` is one number: write \`port: ${port}\``;
  return {
    ...atValue(place, 'wrong-type', message),
    fix: { kind: 'flow', text: port },
    fixAt: place.path,
    covers: [place.path],
  };
};

const LISTEN: ReadonlySet<string> = new Set(['listen', 'bind', 'address', 'addr', 'ports']);

export const listenKey: Slip = ({ schema, data, path }, { keyword, params }) => {
  const key = String(params.additionalProperty ?? params.unevaluatedProperty);
  const map = valueAt(data, path);
  const known = knownKeys(schema, path);
  if (!keyword.endsWith('Properties') || !LISTEN.has(key) || !isPlainMap(map)) return null;
  if (!known.includes('host') || !known.includes('port')) return null;
  const host = typeof map[key] === 'string' ? /^([\w.-]+)(?::\d{1,5})?$/.exec(map[key])?.[1] : undefined;
  const port = lastPort(map[key]);
  const lines = [
    ...(host === undefined || key === 'ports' ? [] : [`host: ${host}`]),
    ...(port === null ? [] : [`port: ${port}`]),
  ];
  const shown = (lines.length === 0 ? ['host: 127.0.0.1', 'port: 8644'] : lines).map((line) => `\`${line}\``);
  return {
    rule: 'unknown-key',
    path: [...path, key],
    at: 'key',
    message: `unknown key \`${key}\`: write ${shown.join(' and ')}`,
  };
};

/** The number after the last colon, of a text or of a list with one item. */
function lastPort(value: unknown): string | null {
  const items: readonly unknown[] = Array.isArray(value) ? value : [value];
  const [, port] = items.length === 1 ? (/(?:^|:)(\d{1,5})(?:\/tcp)?$/.exec(String(items[0])) ?? []) : [];
  return port ?? null;
}
