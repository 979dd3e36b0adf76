/** Keys with names from other tools, and keys in the wrong map. */

import type { NodePath } from '../../diagnostics/problem.ts';
import { flowText } from '../../text/flow-text.ts';
import { isPlainMap } from '../../text/plain-map.ts';
import { isSecretName } from '../../text/secret-names.ts';
import type { SchemaName } from '../known-keys.ts';
import { exampleAt, knownKeys, typesAt } from '../known-keys.ts';
import { valueAt } from '../pointer.ts';
import type { Slip } from './slip.ts';

/** Other names for keys. They apply where the key is known and the other name is not. */
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
  throttle: 'coalesce',
  url: 'base_url',
  endpoint: 'base_url',
  key: 'api_key',
  prompt_template: 'prompt',
  environment: 'env',
  working_directory: 'cwd',
};

/** Unit suffixes that may be missing: `window` for `window_seconds`. */
const UNITS = ['_seconds', '_bytes', '_days', '_mb'];

const meantBy = (key: string, known: readonly string[]): string | undefined => {
  const names = [...(Object.hasOwn(SAME, key) ? [SAME[key]] : []), ...UNITS.map((unit) => key + unit)];
  return names.find((name) => name !== undefined && known.includes(name));
};

export const otherKey: Slip = ({ schema, data, path }, { keyword, params }) => {
  if (keyword !== 'additionalProperties') return null;
  const key = String(params.additionalProperty);
  const meant = meantBy(key, knownKeys(schema, path));
  const map = valueAt(data, path);
  if (meant === undefined || !isPlainMap(map)) return null;
  const fits = isPlainMap(map[key]) || !onlyMap(schema, [...path, meant]);
  const form = fits ? undefined : exampleAt(schema, [...path, meant]);
  return {
    rule: 'unknown-key',
    path: [...path, key],
    at: 'key',
    message: `unknown key \`${key}\`: it is called \`${meant}\` here`,
    ...(Object.hasOwn(map, meant) || !fits ? {} : { fix: { kind: 'rename', text: meant } }),
    ...(form === undefined ? {} : { hint: `write \`${meant}: ${flowText(form)}\`` }),
    ...(isSecretName(meant) ? { sensitive: true } : {}),
    instead: meant,
  };
};

/** A key after no-break spaces, which belong to the key for YAML. */
export const noBreakSpaces: Slip = ({ path }, { keyword, params }) => {
  const key = String(params.additionalProperty);
  if (keyword !== 'additionalProperties' || !key.startsWith('\u00a0')) return null;
  return {
    rule: 'unknown-key',
    path: [...path, key],
    at: 'key',
    message: `no-break spaces (U+00A0) indent \`${key.trim()}\`: use ordinary spaces`,
  };
};

const onlyMap = (schema: SchemaName, path: NodePath): boolean => {
  const types = typesAt(schema, path);
  return types.has('object') && !types.has('string');
};

const NO_COMMAND =
  'a route runs no command: the agent does, `agent: { command: [program] }` at the top of the file, or a `script` that filters';
const ADNANH = 'it is a key of adnanh/webhook: run `hookwright convert adnanh` with the file it comes from';

const SCHEME =
  'the sender decides the scheme: name it with `source:` (hookwright source list), or describe your own (hookwright docs own-sources)';
const NO_ADDRESSES =
  'remove it: a signature proves the sender; addresses are a matter of the proxy or firewall in front';
const BODY_LIMIT = 'write `max_body_bytes: 5242880` under `platforms.webhook`; it holds for all routes';

/** Keys of other tools, and where hookwright has the setting. */
const ELSEWHERE: Readonly<Record<string, { readonly beside: string; readonly hint: string }>> = {
  args: { beside: 'command', hint: 'arguments follow the program: `command: [program, argument]`' },
  arguments: { beside: 'command', hint: 'arguments follow the program: `command: [program, argument]`' },
  shell: { beside: 'command', hint: 'no shell reads `command`; if you need one: `command: [sh, -c, "…"]`' },
  prompt_file: { beside: 'prompt', hint: 'write the text here: `prompt: |`, and its lines indented below' },
  prompt_path: { beside: 'prompt', hint: 'write the text here: `prompt: |`, and its lines indented below' },
  template_file: { beside: 'prompt', hint: 'write the text here: `prompt: |`, and its lines indented below' },
  secret_env: { beside: 'secret', hint: 'write `secret: env:NAME`, with the name of the variable' },
  secret_file: { beside: 'secret', hint: 'write `secret: file:path`, with the path of the file' },
  api_key_env: { beside: 'api_key', hint: 'write `api_key: env:NAME`, with the name of the variable' },
  action: { beside: 'events', hint: 'write `filters: [{ field: action, equals: opened }]`' },
  actions: { beside: 'events', hint: 'write `filters: [{ field: action, in: [opened, reopened] }]`' },
  chat: { beside: 'deliver_extra', hint: 'write `deliver_extra: { chat_id: "-1001234" }`' },
  thread: { beside: 'deliver_extra', hint: 'write `deliver_extra: { thread_id: "17" }`' },
  path: { beside: 'deliver', hint: 'remove it: a route is served at `/webhooks/<its name>`' },
  method: { beside: 'deliver', hint: 'remove it: routes accept only POST' },
  methods: { beside: 'deliver', hint: 'remove it: routes accept only POST' },
  httpMethod: { beside: 'deliver', hint: 'remove it: routes accept only POST' },
  hmac: { beside: 'auth', hint: SCHEME },
  algorithm: { beside: 'auth', hint: SCHEME },
  signature_header: { beside: 'auth', hint: SCHEME },
  ip_allowlist: { beside: 'deliver', hint: NO_ADDRESSES },
  ip_whitelist: { beside: 'deliver', hint: NO_ADDRESSES },
  allowed_ips: { beside: 'deliver', hint: NO_ADDRESSES },
  max_body: { beside: 'deliver', hint: BODY_LIMIT },
  max_body_size: { beside: 'deliver', hint: BODY_LIMIT },
  if: { beside: 'events', hint: 'write `filters: [{ field: action, equals: opened }]`' },
  when: { beside: 'events', hint: 'write `filters: [{ field: action, equals: opened }]`' },
  run: { beside: 'deliver', hint: NO_COMMAND },
  steps: { beside: 'deliver', hint: NO_COMMAND },
  command: { beside: 'deliver', hint: NO_COMMAND },
  exec: { beside: 'deliver', hint: NO_COMMAND },
  'execute-command': { beside: 'deliver', hint: ADNANH },
  'trigger-rule': { beside: 'deliver', hint: ADNANH },
  'command-working-directory': { beside: 'deliver', hint: ADNANH },
  'pass-arguments-to-command': { beside: 'deliver', hint: ADNANH },
  'response-message': { beside: 'deliver', hint: ADNANH },
  env_file: { beside: 'platforms', hint: 'remove it: a `.env` next to this file is read' },
  model: { beside: 'openai', hint: 'it belongs under `openai`, next to `base_url`' },
};

export const keyOfElsewhere: Slip = ({ schema, path }, { keyword, params }) => {
  const key = String(params.additionalProperty);
  const found = Object.hasOwn(ELSEWHERE, key) ? ELSEWHERE[key] : undefined;
  if (keyword !== 'additionalProperties' || found === undefined) return null;
  if (!knownKeys(schema, path).includes(found.beside)) return null;
  return {
    rule: 'unknown-key',
    path: [...path, key],
    at: 'key',
    message: `unknown key \`${key}\``,
    hint: found.hint,
    ...(isSecretName(key) ? { sensitive: true, instead: found.beside } : {}),
  };
};

/** Delivery settings that are often written next to `deliver` instead of in `deliver_extra`. */
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
    rule: 'unknown-key',
    path: [...path, key],
    at: 'key',
    message: `\`${key}\` belongs under \`deliver_extra\``,
    ...(Object.hasOwn(map, 'deliver_extra')
      ? { hint: 'move it to the existing `deliver_extra`' }
      : { fix: { kind: 'nest', under: ['deliver_extra', key] } }),
  };
};

/** `blueprint:` in a job: filling a blueprint creates a job in the store instead. */
export const blueprintInJob: Slip = ({ data, path }, { keyword, params }) => {
  if (keyword !== 'additionalProperties' || params.additionalProperty !== 'blueprint') return null;
  const job = valueAt(data, path);
  if (path[0] !== 'jobs' || path.length !== 2 || !isPlainMap(job)) return null;
  const { blueprint } = job;
  const key = typeof blueprint === 'string' && /^[a-z0-9-]+$/.test(blueprint) ? blueprint : '<key>';
  return {
    rule: 'unknown-key',
    path: [...path, 'blueprint'],
    at: 'key',
    message: 'a job in the config has a `schedule` and a `prompt`: a command fills blueprints and stores the job',
    hint: `remove this entry and run \`hookwright blueprint create ${key} --defaults\`, with name=value for each value that differs`,
    covers: [path],
  };
};
