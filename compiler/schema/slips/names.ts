/**
 * Keys as other programs call them, and what they are here. A row has one spelling, or several of one meaning, separated
 * by spaces. To add a spelling, add it to a row. `match.ts` finds the row for an unknown key.
 */
import { isRoutes, isSettings, isTarget } from './layout.ts';
import type { Spellings } from './written.ts';

/** Other names of keys, where the schema knows the key and not the other name. */
export const CALLED: Spellings = {
  'cron crontab': 'schedule',
  'event_types on': 'events',
  'template message text prompt_template': 'prompt',
  'signing_secret webhook_secret hmac_secret': 'secret',
  provider: 'source',
  'target deliver_to': 'deliver',
  tz: 'timezone',
  cmd: 'command',
  'debounce throttle': 'coalesce',
  'url endpoint': 'base_url',
  key: 'api_key',
  environment: 'env',
  working_directory: 'cwd',
  and: 'all',
  or: 'any',
  'eq equal equal_to is value = == ===': 'equals',
  'ne neq not_equal is_not != !==': 'not_equals',
  'matches match regexp pattern =~': 'regex',
  'include includes has': 'contains',
  'startswith begins_with prefix': 'starts_with',
  'one_of is_one_of': 'in',
  present: 'exists',
};

/** Negations of the operators of filters. */
export const NEGATED: Spellings = {
  'not_in nin': 'in',
  'not_contains not_includes excludes': 'contains',
  'not_matches not_match not_regex !~': 'regex',
};

/** Operators with several values, by the group of conditions with `contains` that they mean. */
export const EACH: Spellings = { 'contains_any any_of contains_one_of': 'any', contains_all: 'all' };

/** Suffixes that a key may lack: `window` for `window_seconds`. */
export const UNITS: readonly string[] = ['_seconds', '_bytes', '_days', '_mb'];

/** Keys that do not exist here, and where the setting is: by a key that the schema knows in the same map. */
export const ADVICE: Readonly<Record<string, Spellings>> = {
  command: {
    'args arguments': 'arguments follow the program: `command: [program, argument]`',
    shell: 'no shell reads `command`; if you need one: `command: [sh, -c, "…"]`',
  },
  prompt: {
    'prompt_file prompt_path template_file': 'write the text here: `prompt: |`, and its lines indented below',
  },
  secret: {
    secret_env: 'write `secret: env:NAME`, with the name of the variable',
    secret_file: 'write `secret: file:path`, with the path of the file',
  },
  api_key: { api_key_env: 'write `api_key: env:NAME`, with the name of the variable' },
  events: {
    'action if when': 'write `filters: [{ field: action, equals: opened }]`',
    actions: 'write `filters: [{ field: action, in: [opened, reopened] }]`',
  },
  deliver_extra: {
    chat: 'write `deliver_extra: { chat_id: "-1001234" }`',
    thread: 'write `deliver_extra: { thread_id: "17" }`',
  },
  auth: {
    'hmac algorithm signature_header':
      'the sender decides the scheme: name it with `source:` (hookwright source list), or describe your own (hookwright docs own-sources)',
  },
  deliver: {
    path: 'remove it: a route is served at `/webhooks/<its name>`',
    'method methods httpMethod': 'remove it: routes accept only POST',
    'ip_allowlist ip_whitelist allowed_ips':
      'remove it: a signature proves the sender; addresses are a matter of the proxy or firewall in front',
    'max_body max_body_size': 'write `max_body_bytes: 5242880` under `platforms.webhook`; it holds for all routes',
    'run steps command exec':
      'a route runs no command: the agent does, `agent: { command: [program] }` at the top of the file, or a `script` that filters',
    'execute-command trigger-rule command-working-directory pass-arguments-to-command response-message':
      'it is a key of adnanh/webhook: run `hookwright convert adnanh` with the file it comes from',
  },
  platforms: { env_file: 'remove it: a `.env` next to this file is read' },
  openai: { model: 'it belongs under `openai`, next to `base_url`' },
  not_equals: {
    'ends_with endswith': 'write `regex: "…$"`',
    'gt gte lt lte > <': 'filters cannot compare numbers; use a `script`',
  },
};

/** A key that is in the wrong map. */
interface Misplaced {
  /** Any key, if absent. */
  readonly keys?: string;
  /** A key that the schema knows in the same map. */
  readonly beside: string;
  /** Path of the map where it belongs, from the map where it is. */
  readonly under: readonly [string, ...string[]];
  /** Its name there, if it has another. */
  readonly as?: string;
  readonly isMeant?: (value: unknown) => boolean;
}

export const MISPLACED: readonly Misplaced[] = [
  { keys: 'webhook webhooks', beside: 'include', under: ['platforms'], as: 'webhook', isMeant: isSettings },
  {
    keys: 'webhook webhooks routes hooks',
    beside: 'include',
    under: ['platforms', 'webhook'],
    as: 'routes',
    isMeant: isRoutes,
  },
  { beside: 'include', under: ['platforms'], isMeant: isTarget },
  {
    keys: 'chat_id channel message_thread_id thread_id repo pr_number to',
    beside: 'deliver_extra',
    under: ['deliver_extra'],
  },
];
