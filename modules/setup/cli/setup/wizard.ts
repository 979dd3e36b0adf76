/** The questions of `gateway setup`, each starting from what is set up already. */

import { parse } from 'yaml';
import { messageOf } from '../../../../base/errors.ts';
import { UsageError } from '../../../../cli/base/errors.ts';
import { parseInteger } from '../../../../cli/command-line/values.ts';
import type { Prompter } from '../../../../cli/output/prompter.ts';
import type { SubscribeFlags } from '../../../../cli/subscriptions/save-entry.ts';
import { valueAt } from '../../../../compiler/schema/pointer.ts';

const KEEP = 'keep';
const OTHER = 'other';
const LOOPBACK = '127.0.0.1';
const EVERYWHERE = '0.0.0.0';

export async function askSetup(ask: Prompter, config: unknown): Promise<SetupAnswers> {
  const enabled = await ask.confirm('Receive webhooks?', currentSetting(config, 'enabled') !== false);
  if (!enabled) return { webhook: { enabled }, settings: [] };
  const host = await askHost(ask, config);
  const port = Number(await ask.text('On which port?', String(currentSetting(config, 'port') ?? 8644), checkPort));
  const secret = await askSecret(ask, config);
  const route = await askRoute(ask);
  return { webhook: { enabled, host, port }, settings: [], secret, route };
}

async function askHost(ask: Prompter, config: unknown): Promise<string> {
  const now = String(currentSetting(config, 'host') ?? LOOPBACK);
  const choice = await ask.choose(
    'Who may reach the server?',
    [
      { value: LOOPBACK, label: 'This machine only', hint: 'behind a reverse proxy or a tunnel' },
      { value: EVERYWHERE, label: 'Everyone who can reach this machine', hint: 'all addresses' },
      { value: OTHER, label: 'One address of this machine…' },
    ],
    now === LOOPBACK || now === EVERYWHERE ? now : OTHER,
  );
  return choice === OTHER
    ? ask.text('Which address?', now, (text) => (text === '' ? 'an address is needed' : undefined))
    : choice;
}

/** Undefined: the secret is not changed. */
async function askSecret(ask: Prompter, config: unknown): Promise<string | undefined> {
  const has = currentSetting(config, 'secret') !== undefined;
  const choice = await ask.choose(
    'The secret that senders sign with',
    [
      ...(has ? [{ value: KEEP, label: 'Keep the one there is' }] : []),
      { value: GENERATE, label: 'Generate one', hint: 'kept in .env' },
      { value: OTHER, label: 'I have one…', hint: 'kept in .env' },
    ],
    has ? KEEP : GENERATE,
  );
  if (choice === KEEP) return undefined;
  return choice === OTHER ? ask.secret('The secret, or env:NAME, or file:path', checkGiven) : choice;
}

async function askRoute(ask: Prompter): Promise<SetupAnswers['route']> {
  if (!(await ask.confirm('Make a first route?', false))) return undefined;
  const name = await ask.text('Its name, a part of its URL', '', checkRouteName);
  const events = await ask.text('Events it accepts, by comma; empty for all', '');
  const prompt = await ask.text('The prompt, with {fields} of the payload; empty for the whole payload', '');
  return { name, flags: { events: events === '' ? undefined : [events], prompt: prompt === '' ? undefined : prompt } };
}

const checkGiven = (text: string): string | undefined => (text.trim() === '' ? 'an answer is needed' : undefined);

const checkPort = (text: string): string | undefined =>
  /^\d{1,5}$/.test(text) && Number(text) <= 65535 ? undefined : 'a whole number from 0 to 65535';

const checkRouteName = (text: string): string | undefined =>
  /^[a-z0-9][a-z0-9_-]{0,63}$/.test(text) ? undefined : 'lower-case letters, digits, - and _, at most 64';

/** The settings to change, from the wizard or from `--set key=value`; others stay as they are. */
export interface SetupAnswers {
  /** Settings of the webhook adapter. */
  readonly webhook: Readonly<Record<string, string | number | boolean>>;
  /** `generate`, `env:NAME`, `file:path`, or the secret itself. */
  readonly secret?: string | undefined;
  readonly route?: { readonly name: string; readonly flags: SubscribeFlags } | undefined;
  /** Any other setting, by its place in the configuration. */
  readonly settings: readonly { readonly path: readonly string[]; readonly value: unknown }[];
}

export const GENERATE = 'generate';

/** Top-level keys that `--set` reaches with a dotted path. */
const ROOTS: ReadonlySet<string> = new Set([
  'app_scheme',
  'public_url',
  'platforms',
  'platform_toolsets',
  'gateway',
  'agent',
  'agents',
  'jobs',
  'sources',
  'targets',
  'include',
]);

const ROUTE_KEYS = [
  'events',
  'prompt',
  'deliver',
  'deliver_chat_id',
  'deliver_only',
  'description',
  'script',
  'secret',
];

/** @throws UsageError naming the key that cannot be set, and those that can. */
export function parseAnswers(pairs: readonly string[]): SetupAnswers {
  const given = new Map(pairs.map(splitPair));
  const webhook: Record<string, string | number | boolean> = {};
  const settings: { path: readonly string[]; value: unknown }[] = [];
  for (const [key, value] of given) {
    if (key === 'enabled') webhook.enabled = parseBoolean(key, value);
    else if (key === 'host') webhook.host = value;
    else if (key === 'port') webhook.port = parseInteger(value, 'port', { min: 0, max: 65535 });
    else if (key === 'secret' || /^route(\.|$)/.test(key)) continue;
    else if (ROOTS.has(key.split('.')[0] ?? '')) settings.push({ path: key.split('.'), value: parseValue(key, value) });
    else throw unknownKey(key);
  }
  return { webhook, settings, secret: given.get('secret'), route: givenRoute(given) };
}

function splitPair(text: string): readonly [string, string] {
  const equals = text.indexOf('=');
  if (equals < 1) throw new UsageError(`--set takes key=value, not "${text}"`, 'for instance --set port=9000');
  return [text.slice(0, equals), text.slice(equals + 1)];
}

/** `route=x` with its `route.events=…`. */
function givenRoute(given: ReadonlyMap<string, string>): SetupAnswers['route'] {
  const parts = new Map(
    [...given].flatMap(([name, value]) => (name.startsWith('route.') ? [[name.slice('route.'.length), value]] : [])),
  );
  const name = given.get('route') ?? '';
  if (name !== '') return { name, flags: routeFlags(parts) };
  if (parts.size > 0) throw new UsageError(`--set route.${[...parts.keys()][0]} needs --set route=<name> beside it`);
  return undefined;
}

/** A route is described as in `webhook subscribe`. */
function routeFlags(parts: ReadonlyMap<string, string>): SubscribeFlags {
  const wrong = [...parts.keys()].find((key) => !ROUTE_KEYS.includes(key));
  if (wrong !== undefined)
    throw new UsageError(
      `a route has no "${wrong}" here`,
      `one of: ${ROUTE_KEYS.map((key) => `route.${key}`).join(', ')}`,
    );
  const events = parts.get('events');
  const direct = parts.get('deliver_only');
  return {
    events: events === undefined ? undefined : [events],
    prompt: parts.get('prompt'),
    deliver: parts.get('deliver'),
    deliverChatId: parts.get('deliver_chat_id'),
    deliverOnly: direct === undefined ? undefined : parseBoolean('route.deliver_only', direct),
    description: parts.get('description'),
    script: parts.get('script'),
    secret: parts.get('secret'),
  };
}

function parseBoolean(key: string, value: string): boolean {
  if (value === 'true' || value === 'false') return value === 'true';
  throw new UsageError(`${key} takes true or false, not "${value}"`);
}

function parseValue(key: string, value: string): unknown {
  try {
    return parse(value, { logLevel: 'error', maxAliasCount: 10 }) ?? '';
  } catch (error) {
    throw new UsageError(
      `the value of ${key} is not YAML: ${messageOf(error).split('\n')[0] ?? ''}`,
      'quote it: --set \'key="text"\'',
    );
  }
}

function unknownKey(key: string): UsageError {
  return new UsageError(
    `"${key}" cannot be set`,
    'enabled, host, port, secret; route, route.<setting>',
    `or a place in the configuration, such as gateway.drain_seconds (${[...ROOTS].join(', ')})`,
  );
}

/** A setting of the webhook adapter as it is. */
const currentSetting = (config: unknown, key: string): unknown =>
  valueAt(config, ['platforms', 'webhook', 'extra', key]) ?? valueAt(config, ['platforms', 'webhook', key]);

/** The answers of `gateway setup --yes`: webhooks enabled, with a secret. */
export function withDefaults(answers: SetupAnswers, config: unknown): SetupAnswers {
  const enabled = answers.webhook.enabled ?? currentSetting(config, 'enabled') ?? true;
  const secret = answers.secret ?? (currentSetting(config, 'secret') === undefined ? GENERATE : undefined);
  return { ...answers, webhook: { enabled: enabled === true, ...answers.webhook }, secret };
}
