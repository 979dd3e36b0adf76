/** Keys under the names that other tools give them, and keys of one thing in another. */

import { unknownKey } from '../../rules/unknown-key.ts';
import { isPlainMap } from '../../text/plain-map.ts';
import { knownKeys } from '../known-keys.ts';
import { valueAt } from '../pointer.ts';
import type { Slip } from './slip.ts';

/** Names that mean one key, wherever that key is known and no other of them is. */
const SAME: Readonly<Record<string, string>> = {
  cron: 'schedule',
  crontab: 'schedule',
  event_types: 'events',
  on: 'events',
  template: 'prompt',
  message: 'prompt',
  text: 'prompt',
  signing_secret: 'secret',
  webhook_secret: 'secret',
  hmac_secret: 'secret',
  provider: 'source',
  target: 'deliver',
  deliver_to: 'deliver',
  tz: 'timezone',
  cmd: 'command',
  debounce: 'coalesce',
};

export const otherKey: Slip = ({ schema, data, path }, { keyword, params }) => {
  if (keyword !== 'additionalProperties') return null;
  const key = String(params.additionalProperty);
  const meant = Object.hasOwn(SAME, key) ? SAME[key] : undefined;
  const map = valueAt(data, path);
  if (meant === undefined || !knownKeys(schema, path).includes(meant) || !isPlainMap(map)) return null;
  return {
    rule: unknownKey,
    path: [...path, key],
    at: 'key',
    message: `unknown key \`${key}\`: it is called \`${meant}\` here`,
    ...(Object.hasOwn(map, meant) ? {} : { fix: { kind: 'rename', text: meant } }),
    ...(meant === 'secret' ? { sensitive: true } : {}),
    instead: meant,
  };
};

/** Settings of a delivery that people write beside `deliver`. */
const EXTRA: ReadonlySet<string> = new Set([
  'chat_id',
  'channel',
  'message_thread_id',
  'thread_id',
  'repo',
  'pr_number',
  'to',
]);

export const outsideExtra: Slip = ({ schema, data, path }, { keyword, params }) => {
  const key = String(params.additionalProperty);
  const map = valueAt(data, path);
  if (keyword !== 'additionalProperties' || !EXTRA.has(key) || !isPlainMap(map)) return null;
  if (!knownKeys(schema, path).includes('deliver_extra')) return null;
  return {
    rule: unknownKey,
    path: [...path, key],
    at: 'key',
    message: `\`${key}\` belongs under \`deliver_extra\``,
    ...(Object.hasOwn(map, 'deliver_extra')
      ? { hint: 'move it to the `deliver_extra` that is here' }
      : { fix: { kind: 'nest', under: ['deliver_extra', key] } }),
  };
};

/** `blueprint:` in a job: a filled blueprint becomes a job of the store. */
export const blueprintInJob: Slip = ({ data, path }, { keyword, params }) => {
  if (keyword !== 'additionalProperties' || params.additionalProperty !== 'blueprint') return null;
  const job = valueAt(data, path);
  if (path[0] !== 'jobs' || path.length !== 2 || !isPlainMap(job)) return null;
  const { blueprint } = job;
  const key = typeof blueprint === 'string' && /^[a-z0-9-]+$/.test(blueprint) ? blueprint : '<key>';
  return {
    rule: unknownKey,
    path: [...path, 'blueprint'],
    at: 'key',
    message:
      'a job of the config has a `schedule` and a `prompt`: a blueprint is filled by a command, which stores the job',
    hint: `remove this entry and run \`hookwright blueprint create ${key} --defaults\`, with name=value for what differs`,
    covers: [path],
  };
};
