/** `repo: {repository.full_name}`: without quotes, a placeholder is a YAML map with an empty value. */
import type { NodePath } from '../../diagnostics/problem.ts';
import { isPlainMap } from '../../text/plain-map.ts';
import { isSecretName } from '../../text/secret-names.ts';
import { typesAt } from '../known-keys.ts';
import { valueAt } from '../pointer.ts';
import type { Slip } from './slip.ts';

/** The path in a placeholder. */
const PATH = /^[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*$/;

export const unquotedPlaceholder: Slip = ({ schema, data, path }) => {
  const at = [path, path.slice(0, -1)].find(
    (each) => keyOf(valueAt(data, each)) !== null && typesAt(schema, each).has('string'),
  );
  const key = at === undefined ? null : keyOf(valueAt(data, at));
  if (at === undefined || key === null || isSecret(at)) return null;
  return {
    rule: 'wrong-type',
    path: at,
    at: 'value',
    message: `\`{${key}}\` without quotes is a YAML map, not text: write \`"{${key}}"\``,
    fix: { kind: 'quote' },
    covers: [at],
  };
};

const isSecret = (path: NodePath): boolean => path.some((part) => isSecretName(String(part)));

/** The only key of a map, if it has no value. */
function keyOf(value: unknown): string | null {
  if (!isPlainMap(value)) return null;
  const [entry, second] = Object.entries(value);
  return entry !== undefined && second === undefined && entry[1] === null && PATH.test(entry[0]) ? entry[0] : null;
}
