/** Recognises maps by their keys, wherever they stand. */
import type { NodePath } from '../../diagnostics/problem.ts';
import { isPlainMap } from '../../text/plain-map.ts';
import { isSecretName } from '../../text/secret-names.ts';
import { knownKeys } from '../known-keys.ts';

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
