/** Problems of keys: unknown, missing, or not allowed as a name. */
import type { NodePath, Problem } from '../diagnostics/problem.ts';
import { isPlainMap } from '../text/plain-map.ts';
import { isSecretName } from '../text/secret-names.ts';
import { certainMatch, didYouMean, oneOf, suggest } from '../text/suggest.ts';
import { hintFrom } from './hints.ts';
import type { SchemaName } from './known-keys.ts';
import { knownKeys } from './known-keys.ts';
import { valueAt } from './pointer.ts';
import type { ShapePlace as Place, ShapeProblem } from './shape-problem.ts';
import { nameOf } from './shape-problem.ts';

/** An unknown key, with a suggestion or the known keys. */
export function unknownKeyProblem(place: Place, key: string): Problem {
  const known = knownKeys(place.schema, place.path);
  const guess = didYouMean(key, known);
  const meant = certainMatch(key, known);
  const hint =
    misplacedKeyHint(place.schema, place.path, key) ??
    (guess === '' ? (anchorHint(place, key) ?? listOf(known)) : undefined);
  return {
    rule: 'unknown-key',
    path: [...place.path, key],
    at: 'key',
    message: `unknown key \`${key}\`${guess}`,
    ...(hint === undefined ? {} : { hint }),
    ...(meant !== null ? { fix: { kind: 'rename', text: meant } } : {}),
    ...(isSecretName(suggest(key, known)[0] ?? '') ? { sensitive: true } : {}),
  };
}

/** Maps whose keys are often written elsewhere, most likely first. */
const HOMES: readonly NodePath[] = [
  ['platforms', 'webhook'],
  [],
  ['gateway'],
  ['agent'],
  ['platforms', 'webhook', 'routes', 'x'],
];

/** Returns undefined if the key is unknown everywhere. */
function misplacedKeyHint(schema: SchemaName, path: NodePath, key: string): string | undefined {
  if (schema !== 'config') return undefined;
  const home = HOMES.find((place) => place.join('.') !== path.join('.') && knownKeys(schema, place).includes(key));
  if (home === undefined) return undefined;
  if (home.length === 0) return `\`${key}\` belongs at the top of the file`;
  return home.length > 2 ? `\`${key}\` belongs to a route` : `\`${key}\` belongs under \`${home.join('.')}\``;
}

/** For an unknown top-level map, which probably exists for YAML anchors. */
function anchorHint({ schema, path, data }: Place, key: string): string | undefined {
  const isOwn = schema === 'config' && path.length === 0 && isPlainMap(valueAt(data, [key]));
  return isOwn ? `a map for YAML anchors has a name that begins with \`x-\`: \`x-${key}\`` : undefined;
}

const listOf = (known: readonly string[]): string | undefined =>
  known.length === 0 ? undefined : `known here: ${oneOf(known.toSorted(), 'and')}`;

export function missingKeyProblem(place: Place, key: string): ShapeProblem {
  const entry = place.path.length === 0 ? 'this file' : `\`${nameOf(place.path)}\``;
  return {
    rule: 'missing-key',
    path: place.path,
    at: 'key',
    missing: key,
    message: `${entry} lacks the key \`${key}\``,
    ...hintFrom(place.schema, [...place.path, key]),
  };
}

/** An invalid name of an entry: a route, a job, a source or a profile; or of a variable. */
export function nameProblem(place: Place, name: string): Problem {
  const found = { rule: 'invalid-name', path: [...place.path, name], at: 'key' } as const;
  if (place.path.at(-1) === 'env') {
    const hint = 'letters, digits and `_`; those that begin with `HOOKWRIGHT_` describe the run and cannot be set';
    return { ...found, message: `\`${name}\` is not a valid name of a variable`, hint };
  }
  return {
    ...found,
    message: `\`${name}\` is not a valid name${nameLike(name)}`,
    hint: 'a name has 1 to 64 lower-case letters, digits, `-` and `_`, and starts with a letter or a digit',
  };
}

/** Suggests a similar valid name. */
function nameLike(name: string): string {
  const words = name.replace(/([a-z0-9])([A-Z])/g, '$1-$2').toLowerCase();
  const plain = words.replace(/[^a-z0-9_]+/g, '-').replace(/^[-_]+|-+$/g, '');
  return plain === '' || plain.length > 64 ? '' : `: write, for example, \`${plain}\``;
}
