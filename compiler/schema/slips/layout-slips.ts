/** Routes, jobs and settings in the wrong layout: as a list, not indented, or at the top level. */
import type { NodePath } from '../../diagnostics/problem.ts';
import { isPlainMap } from '../../text/plain-map.ts';
import { isSecretName } from '../../text/secret-names.ts';
import { certainMatch } from '../../text/suggest.ts';
import { typesOf } from '../alternatives.ts';
import { acceptsKey, knownKeys } from '../known-keys.ts';
import { valueAt } from '../pointer.ts';
import type { ShapePlace } from '../shape-problem.ts';
import { nameOf } from '../shape-problem.ts';
import type { Slip } from './slip.ts';

/** Maps of entries by name. */
const ENTRIES: ReadonlySet<unknown> = new Set(['routes', 'jobs', 'sources']);

/** `routes:` as a list of maps with a `name`. */
export const listOfEntries: Slip = (place, { keyword }) => {
  const found = valueAt(place.data, place.path);
  const key = nameOf(place.path);
  if (keyword !== 'type' || !Array.isArray(found) || !ENTRIES.has(key)) return null;
  const names = found.map((item: unknown) => (isPlainMap(item) ? item.name : undefined));
  const first = names.find((name) => typeof name === 'string');
  return {
    rule: 'wrong-type',
    path: place.path,
    at: 'key',
    message: `\`${key}\` must be a map, not a list: each entry is a key, with its settings indented below it`,
    ...(first === undefined ? {} : { hint: `write \`${first}:\` for \`- name: ${first}\`` }),
    ...(names.every((name) => typeof name === 'string') ? { fix: { kind: 'named-items' } } : {}),
    covers: [place.path],
  };
};

/** An empty key followed by keys at the same depth that belong below it. */
export const notIndented: Slip = ({ schema, data, path }, error) => {
  const parent = path.slice(0, -1);
  const map = valueAt(data, parent);
  const key = path.at(-1);
  const isEmptyMap = error.keyword === 'type' && typesOf(error.params).includes('object');
  if (!isEmptyMap || valueAt(data, path) !== null || !isPlainMap(map) || typeof key !== 'string') return null;
  const keys = Object.keys(map);
  const following = keys.slice(keys.indexOf(key) + 1);
  const end = following.findIndex((name) => !belongsBelow(schema, { parent, key, name }, map[name]));
  const moved = end < 0 ? following : following.slice(0, end);
  const [first] = moved;
  if (first === undefined) return null;
  const what = moved.length === 1 ? `\`${first}\` is` : `the ${moved.length} keys from \`${first}\` on are`;
  return {
    rule: 'wrong-type',
    path,
    at: 'key',
    message: `\`${key}\` is empty: ${what} next to it, not below it; indent ${moved.length === 1 ? 'it' : 'them'} further`,
    fix: { kind: 'indent', keys: moved },
    covers: [path, ...moved.map((name) => [...parent, name])],
  };
};

interface Sibling {
  readonly parent: NodePath;
  readonly key: string;
  readonly name: string;
}

/** Whether a sibling has no meaning where it is, but would have one below the key. */
function belongsBelow(schema: ShapePlace['schema'], { parent, key, name }: Sibling, value: unknown): boolean {
  if (!acceptsKey(schema, [...parent, key], name)) return false;
  if (!acceptsKey(schema, parent, name)) return true;
  // Next to a route, every name could be a route; a value that cannot be a route is a setting.
  return !knownKeys(schema, parent).includes(name) && !isPlainMap(value);
}

/** `platforms.webhooks`, which would otherwise be treated as a target and cause an error for each setting. */
export const misspeltWebhook: Slip = ({ schema, data, path }) => {
  const [top, name] = path;
  if (schema !== 'config' || top !== 'platforms' || typeof name !== 'string' || name === 'webhook') return null;
  if (certainMatch(name, ['webhook']) === null || !isSettings(valueAt(data, ['platforms', name]))) return null;
  const isFree = valueAt(data, ['platforms', 'webhook']) === undefined;
  return {
    rule: 'unknown-key',
    path: ['platforms', name],
    at: 'key',
    message: `unknown key \`${name}\`; did you mean \`webhook\`?`,
    ...(isFree ? { fix: { kind: 'rename', text: 'webhook' } } : {}),
    covers: [['platforms', name]],
  };
};

interface Home {
  /** Path where the key belongs, from the top level. */
  readonly under: readonly [string, ...string[]];
  /** Whether the value fits there. */
  readonly isMeant: (value: unknown) => boolean;
}

const isRoute = (value: unknown): boolean =>
  isPlainMap(value) && Object.keys(value).some((key) => ROUTE_KEYS.includes(key));
const isRoutes = (value: unknown): boolean => isPlainMap(value) && Object.values(value).every(isRoute);
const isSettings = (value: unknown): boolean =>
  isPlainMap(value) && Object.keys(value).some((key) => SETTINGS.includes(key));

const SETTINGS = knownKeys('config', ['platforms', 'webhook']);
const ROUTE_KEYS = knownKeys('config', ['platforms', 'webhook', 'routes', 'x']);

/** Keys that are often written at the top level. The last name of `under` replaces the key. */
const HOMES: Readonly<Record<string, readonly Home[]>> = {
  webhook: [
    { under: ['platforms', 'webhook'], isMeant: isSettings },
    { under: ['platforms', 'webhook', 'routes'], isMeant: isRoutes },
  ],
  webhooks: [
    { under: ['platforms', 'webhook'], isMeant: isSettings },
    { under: ['platforms', 'webhook', 'routes'], isMeant: isRoutes },
  ],
  routes: [{ under: ['platforms', 'webhook', 'routes'], isMeant: isRoutes }],
  hooks: [{ under: ['platforms', 'webhook', 'routes'], isMeant: isRoutes }],
};

/** `webhook:`, `webhooks:` or `routes:` at the top level. */
export const outsidePlatforms: Slip = ({ schema, data, path }, { keyword, params }) => {
  const key = String(params.additionalProperty);
  if (schema !== 'config' || keyword !== 'additionalProperties' || path.length > 0 || !isPlainMap(data)) return null;
  const home = Object.hasOwn(HOMES, key) ? HOMES[key]?.find(({ isMeant }) => isMeant(data[key])) : undefined;
  if (home === undefined) return null;
  const hint = 'move it below the existing `platforms`';
  return {
    rule: 'unknown-key',
    path: [key],
    at: 'key',
    message: `\`${key}\` belongs under \`${home.under.slice(0, -1).join('.')}\`${home.under.at(-1) === key ? '' : `, as \`${home.under.at(-1)}\``}`,
    // The fix must not create a duplicate key.
    ...(Object.hasOwn(data, 'platforms') ? { hint } : { fix: { kind: 'nest', under: home.under } }),
  };
};

/** A target's settings at the top level. */
export const targetOutside: Slip = ({ schema, data, path }, { keyword, params }) => {
  const key = String(params.additionalProperty);
  if (schema !== 'config' || keyword !== 'additionalProperties' || path.length > 0 || !isPlainMap(data)) return null;
  const { platforms } = data;
  if (key.startsWith('x-') || !isTarget(data[key])) return null;
  const problem = {
    rule: 'unknown-key',
    path: [key],
    at: 'key',
    message: `\`${key}\` belongs under \`platforms\``,
  } as const;
  if (platforms === undefined) return { ...problem, fix: { kind: 'nest', under: ['platforms', key] } };
  const isFree = isPlainMap(platforms) && !Object.hasOwn(platforms, key);
  const hint = 'move it below the existing `platforms`';
  return { ...problem, hint, ...(isFree ? { fix: { kind: 'move', into: 'platforms' } } : {}) };
};

const TARGET_KEYS = knownKeys('config', ['platforms', 'x']);

/** Whether a map contains a target's settings. A map with settings of a route probably exists for its anchor. */
const isTarget = (value: unknown): boolean =>
  isPlainMap(value) &&
  Object.keys(value).some((key) => TARGET_KEYS.includes(key) || isSecretName(key)) &&
  Object.keys(value).every((key) => TARGET_KEYS.includes(key) || !ROUTE_KEYS.includes(key));
