/** `secret: { env: NAME }`: a reference written as a map, as in other tools. */
import { isPlainMap } from '../../text/plain-map.ts';
import { isSecretName } from '../../text/secret-names.ts';
import { typesOf } from '../alternatives.ts';
import { knownKeys } from '../known-keys.ts';
import { valueAt } from '../pointer.ts';
import { atValue, nameOf } from '../shape-problem.ts';
import type { Slip } from './slip.ts';

const KINDS: Readonly<Record<string, string>> = {
  env: 'env',
  env_var: 'env',
  from_env: 'env',
  fromEnv: 'env',
  variable: 'env',
  file: 'file',
  path: 'file',
  from_file: 'file',
};

export const referenceMap: Slip = (place, { keyword, params }) => {
  const found = valueAt(place.data, place.path);
  if (keyword !== 'type' || !typesOf(params).includes('string') || !isPlainMap(found)) return null;
  const [[key, value] = ['', null], second] = Object.entries(found);
  const kind = Object.hasOwn(KINDS, key) && second === undefined ? KINDS[key] : undefined;
  if (kind === undefined || typeof value !== 'string' || !FORMS[kind]?.test(value)) {
    if (!isSecretName(nameOf(place.path))) return null;
    const hint = `write \`${nameOf(place.path)}: env:NAME\` with the name of a variable, or \`file:path\``;
    return { ...atValue(place, 'wrong-type', 'a reference is text, not a map'), hint, covers: [place.path] };
  }
  const text = `${kind}:${value}`;
  const message = `a reference is text, not a map: write \`${nameOf(place.path)}: ${text}\``;
  return {
    ...atValue(place, 'wrong-type', message),
    fix: { kind: 'flow', text },
    fixAt: place.path,
    covers: [place.path],
  };
};

/** Valid names and paths. Other text is not repeated in messages, because it may be a literal secret. */
const FORMS: Readonly<Record<string, RegExp>> = {
  env: /^[A-Z_][A-Z0-9_]*$/,
  file: /^[~.\w-]*\/[\w./-]+$/,
};

/** `secret: [env:NEW, env:OLD]` instead of `secrets`. */
export const secretList: Slip = (place, { keyword }) => {
  const found = valueAt(place.data, place.path);
  const isOne = keyword === 'type' && place.path.at(-1) === 'secret' && Array.isArray(found);
  const siblings = knownKeys(place.schema, place.path.slice(0, -1));
  const parent = valueAt(place.data, place.path.slice(0, -1));
  if (!isOne || !siblings.includes('secrets') || !isPlainMap(parent)) return null;
  const isFree = parent.secrets === undefined;
  return {
    rule: 'wrong-type',
    path: place.path,
    at: 'key',
    message: '`secret` is a single secret; write `secrets` for a list',
    covers: [place.path],
    ...(isFree ? { fix: { kind: 'rename', text: 'secrets' } } : { hint: 'move them to the existing `secrets`' }),
  };
};
