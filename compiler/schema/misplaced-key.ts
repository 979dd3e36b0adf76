/** Explains where a known key that is in the wrong place belongs. */
import type { SCHEMAS } from '../../schemas/built/schemas.ts';
import type { NodePath } from '../diagnostics/problem.ts';
import { knownKeys } from './known-keys.ts';

/** Maps whose keys are often written elsewhere, most likely first. */
const HOMES: readonly NodePath[] = [
  ['platforms', 'webhook'],
  [],
  ['gateway'],
  ['agent'],
  ['platforms', 'webhook', 'routes', 'x'],
];

/** Returns undefined if the key is unknown everywhere. */
export function misplacedKeyHint(schema: keyof typeof SCHEMAS, path: NodePath, key: string): string | undefined {
  if (schema !== 'config') return undefined;
  const home = HOMES.find((place) => place.join('.') !== path.join('.') && knownKeys(schema, place).includes(key));
  if (home === undefined) return undefined;
  if (home.length === 0) return `\`${key}\` belongs at the top of the file`;
  return home.length > 2 ? `\`${key}\` belongs to a route` : `\`${key}\` belongs under \`${home.join('.')}\``;
}
