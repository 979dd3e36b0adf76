/** Mistakes of layout, and others that no row of a table can describe. */
import type { NodePath } from '../../../compiler/diagnostics/problem.ts';
import { acceptsKey, knownKeys, typesAt } from '../../../compiler/schema/known-keys.ts';
import { valueAt } from '../../../compiler/schema/pointer.ts';
import { isPlainMap } from '../../../compiler/text/plain-map.ts';
import { isSecretName } from '../../../compiler/text/secret-names.ts';
import { certainMatch } from '../../../compiler/text/suggest.ts';
import type { Slip, Written } from './written.ts';
import { problemOf } from './written.ts';

const ROUTE = ['platforms', 'webhook', 'routes', 'x'];

const hasKeyOf = (value: unknown, path: NodePath): boolean =>
  isPlainMap(value) && Object.keys(value).some((key) => knownKeys('config', path).includes(key));

/** Settings of the webhook platform. */
export const isSettings = (value: unknown): boolean => hasKeyOf(value, ['platforms', 'webhook']);

export const isRoutes = (value: unknown): boolean =>
  isPlainMap(value) && Object.values(value).every((route) => hasKeyOf(route, ROUTE));

/** A target. A map with settings of a route probably exists for its anchor. */
export function isTarget(value: unknown): boolean {
  const ofTarget = knownKeys('config', ['platforms', 'x']);
  const others = Object.keys(isPlainMap(value) ? value : {}).filter((key) => !ofTarget.includes(key));
  const isOne = isPlainMap(value) && (others.length < Object.keys(value).length || others.some(isSecretName));
  return isOne && !others.some((key) => knownKeys('config', ROUTE).includes(key));
}

type Layout = (written: Written) => Slip | null;

/** `platforms.webhooks`, which would otherwise be a target with an error for each setting. */
const misspeltWebhook: Layout = (written) => {
  const [top, name] = written.path;
  if (written.schema !== 'config' || top !== 'platforms' || typeof name !== 'string' || name === 'webhook') return null;
  const path = [top, name];
  if (certainMatch(name, ['webhook']) === null || !isSettings(valueAt(written.data, path))) return null;
  const isFree = valueAt(written.data, [top, 'webhook']) === undefined;
  return problemOf(written, `unknown key \`${name}\`; did you mean \`webhook\`?`, {
    rule: 'unknown-key',
    path,
    at: 'key',
    covers: [path],
    fix: isFree ? { kind: 'rename', text: 'webhook' } : undefined,
  });
};

/** A key after no-break spaces, which belong to the key for YAML. */
const noBreakSpaces: Layout = (written) =>
  written.mistake === 'key' && written.key.startsWith('\u00a0')
    ? problemOf(written, `no-break spaces (U+00A0) indent \`${written.key.trim()}\`: use ordinary spaces`, {})
    : null;

/** `repo: {repository.full_name}`: without quotes, a placeholder is a YAML map with an empty value. */
const unquotedPlaceholder: Layout = (written) => {
  const { schema, data, path } = written;
  const isText = (at: typeof path): boolean =>
    placeholderIn(valueAt(data, at)) !== null && typesAt(schema, at).has('string');
  const at = [path, path.slice(0, -1)].find(isText);
  if (at === undefined || at.some((part) => isSecretName(String(part)))) return null;
  const name = placeholderIn(valueAt(data, at));
  const message = `\`{${name}}\` without quotes is a YAML map, not text: write \`"{${name}}"\``;
  const quote = { fix: { kind: 'quote' }, covers: [at] } as const;
  return problemOf(written, message, { rule: 'wrong-type', path: at, at: 'value', ...quote });
};

/** The only key of a map, if it has no value. */
function placeholderIn(value: unknown): string | null {
  const [[name, empty] = ['', undefined], second] = isPlainMap(value) ? Object.entries(value) : [];
  return second === undefined && empty === null && /^[\w-]+(?:\.[\w-]+)*$/.test(name) ? name : null;
}

/** An empty key followed by keys at the same depth that belong below it. */
const notIndented: Layout = (written) => {
  const { schema, mistake, path, key, value, map, types } = written;
  if (mistake !== 'type' || !types.includes('object') || value !== null || key === '') return null;
  const parent = path.slice(0, -1);
  const keys = Object.keys(map);
  const following = keys.slice(keys.indexOf(key) + 1);
  // Next to a route, every name could be a route; a value that cannot be a route is a setting.
  const isHere = (name: string): boolean =>
    acceptsKey(schema, parent, name) && (knownKeys(schema, parent).includes(name) || isPlainMap(map[name]));
  const end = following.findIndex((name) => isHere(name) || !acceptsKey(schema, path, name));
  const moved = end < 0 ? following : following.slice(0, end);
  if (moved.length === 0) return null;
  const what = moved.length === 1 ? `\`${moved[0]}\` is` : `the ${moved.length} keys from \`${moved[0]}\` on are`;
  const them = moved.length === 1 ? 'it' : 'them';
  return problemOf(written, `\`${key}\` is empty: ${what} next to it, not below it; indent ${them} further`, {
    at: 'key',
    fix: { kind: 'indent', keys: moved },
    covers: [path, ...moved.map((name) => [...parent, name])],
  });
};

/** `routes:` as a list of maps with a `name`. */
const listOfEntries: Layout = (written) => {
  const { mistake, path, key, value } = written;
  if (mistake !== 'type' || !Array.isArray(value) || !['routes', 'jobs', 'sources', 'targets'].includes(key))
    return null;
  const names = value.map((item: unknown) => (isPlainMap(item) ? item.name : undefined));
  const first = names.find((name) => typeof name === 'string') ?? 'name';
  const message = `\`${key}\` must be a map, not a list: each entry is a key, with its settings indented below it`;
  return problemOf(written, message, {
    at: 'key',
    hint: `write \`${first}:\` for \`- name: ${first}\``,
    covers: [path],
    fix: names.every((name) => typeof name === 'string') ? { kind: 'named-items' } : undefined,
  });
};

/** `secret: [env:NEW, env:OLD]` instead of `secrets`. */
const secretList: Layout = (written) => {
  const { schema, mistake, path, key, value, map } = written;
  const isOne = mistake === 'type' && key === 'secret' && Array.isArray(value);
  if (!isOne || !knownKeys(schema, path.slice(0, -1)).includes('secrets')) return null;
  const more =
    map.secrets === undefined
      ? { fix: { kind: 'rename', text: 'secrets' } as const }
      : { hint: 'move them to the existing `secrets`' };
  return problemOf(written, '`secret` is a single secret; write `secrets` for a list', {
    at: 'key',
    covers: [path],
    ...more,
  });
};

/** `blueprint:` in a job: filling a blueprint creates a job in the store instead. */
const blueprintInJob: Layout = (written) => {
  const { mistake, path, key, value } = written;
  if (mistake !== 'key' || key !== 'blueprint' || path[0] !== 'jobs' || path.length !== 3) return null;
  const name = /^[a-z0-9-]+$/.test(String(value)) ? String(value) : '<key>';
  const hint = `remove this entry and run \`hookwright blueprint create ${name} --defaults\`, with name=value for each value that differs`;
  const message = 'a job in the config has a `schedule` and a `prompt`: a command fills blueprints and stores the job';
  return problemOf(written, message, { hint, covers: [path.slice(0, -1)] });
};

/** The first one that returns a problem explains the error. */
export const LAYOUTS: readonly Layout[] = [
  noBreakSpaces,
  unquotedPlaceholder,
  misspeltWebhook,
  notIndented,
  listOfEntries,
  secretList,
  blueprintInJob,
];
