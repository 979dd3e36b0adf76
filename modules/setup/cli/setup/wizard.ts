/** Asks the questions of `gateway setup`, with the current settings as defaults, and parses `--set`. */

import { parse } from 'yaml';
import { messageOf } from '../../../../base/errors.ts';
import { isBlank } from '../../../../base/text.ts';
import { UsageError } from '../../../../cli/base/errors.ts';
import { parseInteger } from '../../../../cli/command-line/values.ts';
import type { Prompter } from '../../../../cli/output/prompter.ts';
import type { SubscribeFlags } from '../../../../cli/subscriptions/save-entry.ts';
import { knownKeys } from '../../../../compiler/schema/known-keys.ts';
import { valueAt } from '../../../../compiler/schema/pointer.ts';
import type { AgentFile } from '../../../../schemas/generated/types.ts';

const KEEP = 'keep';
const OTHER = 'other';
const NONE = 'none';
const LOOPBACK = '127.0.0.1';
const EVERYWHERE = '0.0.0.0';

/** @param agents the known programs, by name */
export async function askSetup(ask: Prompter, config: unknown, agents: KnownAgents): Promise<SetupAnswers> {
  const enabled = await ask.confirm('Receive webhooks?', currentSetting(config, 'enabled') !== false);
  if (!enabled) return { webhook: { enabled }, settings: [] };
  const host = await askHost(ask, config);
  const port = Number(await ask.text('Port?', String(currentSetting(config, 'port') ?? 8644), checkPort));
  const secret = await askSecret(ask, config);
  const settings = valueAt(config, ['agent']) === undefined ? await askAgent(ask, agents) : [];
  const route = await askRoute(ask);
  return { webhook: { enabled, host, port }, settings, secret, route };
}

export type KnownAgents = Readonly<Record<string, Pick<AgentFile, 'title' | 'needs' | 'key'>>>;

const NO_AGENT = { label: 'None', hint: 'the prompt itself is the answer' };

/** Asks for a known program and what it needs. @param other what the choice of none of them means */
export async function askAgent(
  ask: Prompter,
  agents: KnownAgents,
  other: { readonly label: string; readonly hint: string } = NO_AGENT,
): Promise<SetupAnswers['settings']> {
  const none = { value: NONE, ...other };
  const programs = Object.entries(agents).map(([value, { title }]) => ({ value, label: title }));
  const use = await ask.choose('Which program runs prompts?', [none, ...programs], NONE);
  const settings = use === NONE ? [] : [{ path: ['agent', 'use'], value: use }];
  const { needs = [], key = '' } = agents[use] ?? {};
  for (const need of needs) {
    const [question, initial] = need === 'key' ? ['Key (env:NAME or file:path)?', `env:${key}`] : [`Its ${need}?`, ''];
    settings.push({ path: ['agent', need], value: await ask.text(question, initial, checkGiven) });
  }
  return settings;
}

async function askHost(ask: Prompter, config: unknown): Promise<string> {
  const now = String(currentSetting(config, 'host') ?? LOOPBACK);
  const choice = await ask.choose(
    'Who can reach the server?',
    [
      { value: LOOPBACK, label: 'This machine only', hint: 'behind a reverse proxy or a tunnel' },
      { value: EVERYWHERE, label: 'Everyone who can reach this machine', hint: 'all addresses' },
      { value: OTHER, label: 'One address of this machine…' },
    ],
    now === LOOPBACK || now === EVERYWHERE ? now : OTHER,
  );
  return choice === OTHER
    ? ask.text('Address?', now, (text) => (text === '' ? 'enter an address' : undefined))
    : choice;
}

/** Returns undefined if the secret does not change. */
async function askSecret(ask: Prompter, config: unknown): Promise<string | undefined> {
  const has = currentSetting(config, 'secret') !== undefined;
  const choice = await ask.choose(
    'Secret for signatures of senders?',
    [
      ...(has ? [{ value: KEEP, label: 'Keep the current one' }] : []),
      { value: GENERATE, label: 'Generate one', hint: 'stored in .env' },
      { value: OTHER, label: 'Enter one…', hint: 'stored in .env' },
    ],
    has ? KEEP : GENERATE,
  );
  if (choice === KEEP) return undefined;
  return choice === OTHER ? ask.secret('Secret (or env:NAME, or file:path)?', checkGiven) : choice;
}

async function askRoute(ask: Prompter): Promise<SetupAnswers['route']> {
  if (!(await ask.confirm('Create a first route?', false))) return undefined;
  const name = await ask.text('Name of the route, for its URL?', '', checkRouteName);
  const events = await ask.text('Accepted events, separated by commas (empty: all)?', '');
  const prompt = await ask.text('Prompt, with {fields} of the payload (empty: the whole payload)?', '');
  return { name, flags: { events: events === '' ? undefined : [events], prompt: prompt === '' ? undefined : prompt } };
}

const checkGiven = (text: string): string | undefined => (isBlank(text) ? 'enter a value' : undefined);

const checkPort = (text: string): string | undefined =>
  /^\d{1,5}$/.test(text) && Number(text) <= 65535 ? undefined : 'enter a whole number from 0 to 65535';

const checkRouteName = (text: string): string | undefined =>
  /^[a-z0-9][a-z0-9_-]{0,63}$/.test(text) ? undefined : 'use at most 64 lower-case letters, digits, - and _';

/** The settings to change, from the wizard or from `--set key=value`. */
export interface SetupAnswers {
  /** Settings of the webhook adapter. */
  readonly webhook: Readonly<Record<string, string | number | boolean>>;
  /** `generate`, `env:NAME`, `file:path`, or the secret itself. */
  readonly secret?: string | undefined;
  readonly route?: { readonly name: string; readonly flags: SubscribeFlags } | undefined;
  /** Any other settings, by path in the configuration. */
  readonly settings: readonly { readonly path: readonly string[]; readonly value: unknown }[];
}

export const GENERATE = 'generate';

/** The first keys of the dotted paths that `--set` reaches. */
const ROOTS = knownKeys('config', []);

/** The keys of a route, each with the option of `webhook subscribe` that sets it. */
const ROUTE_KEYS: Readonly<Record<string, keyof SubscribeFlags>> = {
  events: 'events',
  prompt: 'prompt',
  deliver: 'deliver',
  deliver_chat_id: 'deliverChatId',
  deliver_only: 'deliverOnly',
  description: 'description',
  script: 'script',
  secret: 'secret',
};

/** @throws UsageError with the unknown key and the known ones */
export function parseAnswers(pairs: readonly string[]): SetupAnswers {
  const given = new Map(pairs.map(splitPair));
  const webhook: Record<string, string | number | boolean> = {};
  const settings: { path: readonly string[]; value: unknown }[] = [];
  for (const [key, value] of given) {
    if (key === 'enabled') webhook.enabled = parseBoolean(key, value);
    else if (key === 'host') webhook.host = value;
    else if (key === 'port') webhook.port = parseInteger(value, 'port', { min: 0, max: 65535 });
    else if (key === 'secret' || /^route(\.|$)/.test(key)) continue;
    else if (ROOTS.includes(key.split('.')[0] ?? ''))
      settings.push({ path: key.split('.'), value: parseValue(key, value) });
    else throw unknownKey(key);
  }
  return { webhook, settings, secret: given.get('secret'), route: givenRoute(given) };
}

function splitPair(text: string): readonly [string, string] {
  const equals = text.indexOf('=');
  if (equals < 1) throw new UsageError(`--set must be key=value, not "${text}"`, 'for instance --set port=9000');
  return [text.slice(0, equals), text.slice(equals + 1)];
}

/** `route=x` with its `route.events=…`. */
function givenRoute(given: ReadonlyMap<string, string>): SetupAnswers['route'] {
  const parts = new Map(
    [...given].flatMap(([name, value]) => (name.startsWith('route.') ? [[name.slice('route.'.length), value]] : [])),
  );
  const name = given.get('route') ?? '';
  if (name !== '') return { name, flags: routeFlags(parts) };
  if (parts.size > 0) throw new UsageError(`--set route.${[...parts.keys()][0]} also needs --set route=<name>`);
  return undefined;
}

function routeFlags(parts: ReadonlyMap<string, string>): SubscribeFlags {
  const flags = [...parts].map(([key, value]) => {
    const name = Object.hasOwn(ROUTE_KEYS, key) ? ROUTE_KEYS[key] : undefined;
    const keys = Object.keys(ROUTE_KEYS).map((each) => `route.${each}`);
    if (name === undefined) throw new UsageError(`a route has no key "${key}"`, `keys: ${keys.join(', ')}`);
    if (name === 'deliverOnly') return [name, parseBoolean('route.deliver_only', value)];
    return [name, name === 'events' ? [value] : value];
  });
  return Object.fromEntries(flags);
}

function parseBoolean(key: string, value: string): boolean {
  if (value === 'true' || value === 'false') return value === 'true';
  throw new UsageError(`${key} must be true or false, not "${value}"`);
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
    'keys: enabled, host, port, secret, route, route.<setting>',
    `or a path in the configuration, such as gateway.drain_seconds (${ROOTS.join(', ')})`,
  );
}

/** The current value of a setting of the webhook adapter. */
const currentSetting = (config: unknown, key: string): unknown =>
  valueAt(config, ['platforms', 'webhook', 'extra', key]) ?? valueAt(config, ['platforms', 'webhook', key]);

/** The answers of `gateway setup --yes`: webhooks enabled, with a secret. */
export function withDefaults(answers: SetupAnswers, config: unknown): SetupAnswers {
  const enabled = answers.webhook.enabled ?? currentSetting(config, 'enabled') ?? true;
  const secret = answers.secret ?? (currentSetting(config, 'secret') === undefined ? GENERATE : undefined);
  return { ...answers, webhook: { enabled: enabled === true, ...answers.webhook }, secret };
}
