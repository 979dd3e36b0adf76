/** A config of Hermes Agent: reported once, instead of each unknown key. */

import { isPlainMap } from '../../text/plain-map.ts';
import { valueAt } from '../pointer.ts';
import type { Slip } from './slip.ts';

/** Top-level sections of such a config that hookwright does not have. */
const SECTIONS = [
  'model',
  'fallback_model',
  'providers',
  'custom_providers',
  'toolsets',
  'terminal',
  'browser',
  'compression',
  'memory',
  'skills',
  'mcp_servers',
  'display',
  'tts',
  'stt',
  'delegation',
  'approvals',
  'webhooks',
];

/** Keys of its routes that hookwright does not have. */
const ROUTE_KEYS = ['source_platform', 'retry_on_script_failure'];

export const hermesConfig: Slip = ({ schema, data }) => {
  if (schema !== 'config' || !isPlainMap(data)) return null;
  const sections = Object.keys(data).filter((key) => SECTIONS.includes(key));
  const hasExtra = isPlainMap(valueAt(data, ['platforms', 'webhook', 'extra']));
  const isOne = sections.length > 1 || (sections.length === 1 && hasExtra) || hasForeignRoute(data) || hasHome(data);
  const [first] = [...sections, ...Object.keys(data)];
  if (!isOne || first === undefined) return null;
  return {
    rule: 'unknown-key',
    path: [first],
    at: 'key',
    message: 'this is a config of Hermes Agent',
    hint: 'run `hookwright convert hermes` with the name of this file: it writes a config for hookwright and reports what has no equivalent',
    covers: Object.keys(data).map((key) => [key]),
  };
};

const routesOf = (data: unknown): readonly unknown[] =>
  [
    ['platforms', 'webhook', 'extra', 'routes'],
    ['platforms', 'webhook', 'routes'],
  ].flatMap((path) => Object.values(valueAt(data, path) ?? {}));

const hasForeignRoute = (data: unknown): boolean =>
  routesOf(data).some((route) => isPlainMap(route) && ROUTE_KEYS.some((key) => Object.hasOwn(route, key)));

/** `home_channel: { platform, chat_id, name }`. */
const hasHome = (data: unknown): boolean =>
  Object.values(valueAt(data, ['platforms']) ?? {}).some(
    (target) => isPlainMap(target) && isPlainMap(target.home_channel) && Object.hasOwn(target.home_channel, 'chat_id'),
  );
