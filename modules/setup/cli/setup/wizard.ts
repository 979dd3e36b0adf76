/** The questions of `gateway setup`, each starting from what is set up already. */
import { parseBaseUrl } from '../../../../base/base-url.ts';
import type { Prompter } from '../../../../cli/output/prompter.ts';
import { valueAt } from '../../../../compiler/schema/pointer.ts';
import type { SetupAnswers } from './answers.ts';
import { currentSetting, GENERATE } from './answers.ts';
import type { KnownTarget, TargetWay } from './known-targets.ts';
import { splitShellWords } from './shell-words.ts';

const KEEP = 'keep';
const NONE = 'none';
const OTHER = 'other';
const LOOPBACK = '127.0.0.1';
const EVERYWHERE = '0.0.0.0';

type Agent = SetupAnswers['settings'];

/** What the prompts need to know about this machine. */
export interface SetupMachine {
  readonly targets: readonly KnownTarget[];
  /** Why a program cannot be started here; null: it can. */
  readonly missingProgram: (argv: readonly string[]) => string | null;
}

export async function askSetup(
  ask: Prompter,
  config: unknown,
  { targets, missingProgram }: SetupMachine,
): Promise<SetupAnswers> {
  const enabled = await ask.confirm('Receive webhooks?', currentSetting(config, 'enabled') !== false);
  if (!enabled) return { webhook: { enabled }, settings: [] };
  const host = await askHost(ask, config);
  const port = Number(await ask.text('On which port?', String(currentSetting(config, 'port') ?? 8644), checkPort));
  const secret = await askSecret(ask, config);
  const settings = await askAgent(ask, config, missingProgram);
  const target = await askTarget(ask, config, targets);
  const console = await askConsole(ask, config);
  const route = await askRoute(ask, target?.name);
  return {
    webhook: { enabled, host, port },
    settings: [...settings, ...console],
    ...(secret === null ? {} : { secret }),
    ...(target === null ? {} : { target }),
    ...(route === null ? {} : { route }),
  };
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

/** Null: the secret is not changed. */
async function askSecret(ask: Prompter, config: unknown): Promise<string | null> {
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
  if (choice === KEEP) return null;
  return choice === OTHER ? ask.secret('The secret, or env:NAME, or file:path', checkGiven) : choice;
}

async function askAgent(
  ask: Prompter,
  config: unknown,
  missingProgram: SetupMachine['missingProgram'],
): Promise<Agent> {
  const has = valueAt(config, ['agent']) !== undefined;
  const choice = await ask.choose(
    'What answers the prompts?',
    [
      ...(has ? [{ value: KEEP, label: 'Keep the agent there is' }] : []),
      { value: 'command', label: 'A program', hint: 'prompt on stdin, answer on stdout' },
      { value: 'openai', label: 'A server with the chat completions interface' },
      { value: NONE, label: 'Nothing yet', hint: 'the prompt itself is the answer' },
    ],
    has ? KEEP : NONE,
  );
  if (choice === 'command') return [{ path: ['agent', 'command'], value: await askCommand(ask, missingProgram) }];
  if (choice !== 'openai') return [];
  const base_url = await ask.text('Its base URL', 'http://127.0.0.1:11434/v1', checkUrl);
  const model = await ask.text('The model', '', checkGiven);
  const api_key = await ask.text('The key as env:NAME or file:path; empty for none', '', checkReference);
  return [{ path: ['agent', 'openai'], value: { base_url, model, ...(api_key === '' ? {} : { api_key }) } }];
}

/** Asked again if the program is missing, unless it is to be installed later. */
async function askCommand(
  ask: Prompter,
  missingProgram: SetupMachine['missingProgram'],
  initial = '',
): Promise<readonly string[]> {
  const line = await ask.text('Its command line, as in a shell', initial, checkCommand);
  const argv = splitShellWords(line) ?? [];
  const missing = missingProgram(argv);
  if (missing === null || (await ask.confirm(`${missing}. Use it anyway?`, false))) return argv;
  return askCommand(ask, missingProgram, line);
}

async function askTarget(
  ask: Prompter,
  config: unknown,
  targets: readonly KnownTarget[],
): Promise<NonNullable<SetupAnswers['target']> | null> {
  const written = ({ name, names }: KnownTarget): string =>
    names.find((known) => valueAt(config, ['platforms', known]) !== undefined) ?? name;
  const choices = targets.map((known) => ({
    ...{ value: known.name, label: known.title },
    ...(valueAt(config, ['platforms', written(known), 'enabled']) === true ? { hint: 'set up' } : {}),
  }));
  const chosen = await ask.choose(
    'Where shall answers go?',
    [{ value: NONE, label: 'To the log only' }, ...choices],
    NONE,
  );
  const target = targets.find((known) => known.name === chosen);
  if (target === undefined) return null;
  const name = written(target);
  const settings = await askSettings(ask, valueAt(config, ['platforms', name]), await askWay(ask, target));
  if (!target.hasChats) return { name, settings };
  const now = String(valueAt(config, ['platforms', name, 'home_channel']) ?? '');
  const channel = await ask.text('The chat to write to when a route names none; empty for none', now);
  return { name, settings: channel === '' ? settings : { ...settings, home_channel: channel } };
}

async function askWay(ask: Prompter, { ways }: KnownTarget): Promise<TargetWay['settings']> {
  const [first, second] = ways;
  if (first === undefined || second === undefined) return first?.settings ?? [];
  const titles = ways.map(({ name: value, title: label }) => ({ value, label }));
  const chosen = await ask.choose('Which way?', titles, first.name);
  return ways.find(({ name }) => name === chosen)?.settings ?? [];
}

/** Those that are set already may be kept. */
async function askSettings(
  ask: Prompter,
  config: unknown,
  wanted: TargetWay['settings'],
): Promise<Record<string, string>> {
  const settings: Record<string, string> = {};
  for (const { key, help, secret } of wanted) {
    const keep = valueAt(config, [key]) !== undefined && (await ask.confirm(`Keep its ${key}?`, true));
    if (!keep) settings[key] = await (secret ? ask.secret(help, checkGiven) : ask.text(help, '', checkGiven));
  }
  return settings;
}

/** It gets a token of its own; one that is there stays as it is. */
async function askConsole(ask: Prompter, config: unknown): Promise<Agent> {
  if (valueAt(config, ['gateway', 'console']) !== undefined) return [];
  if (!(await ask.confirm('Show what happens on a page of this machine?', false))) return [];
  const port = Number(await ask.text('On which port?', '8645', checkPort));
  return [{ path: ['gateway', 'console', 'port'], value: port }];
}

async function askRoute(ask: Prompter, target: string | undefined): Promise<NonNullable<SetupAnswers['route']> | null> {
  if (!(await ask.confirm('Make a first route?', false))) return null;
  const name = await ask.text('Its name, a part of its URL', '', checkRouteName);
  const events = await ask.text('Events it accepts, by comma; empty for all', '');
  const prompt = await ask.text('The prompt, with {fields} of the payload; empty for the whole payload', '');
  return {
    name,
    flags: {
      ...(events === '' ? {} : { events: [events] }),
      ...(prompt === '' ? {} : { prompt }),
      ...(target === undefined ? {} : { deliver: target }),
    },
  };
}

const checkGiven = (text: string): string | undefined => (text.trim() === '' ? 'an answer is needed' : undefined);

function checkCommand(text: string): string | undefined {
  const words = splitShellWords(text);
  return words === null ? 'a quotation mark is not closed' : words[0] ? undefined : 'an answer is needed';
}

const checkPort = (text: string): string | undefined =>
  /^\d{1,5}$/.test(text) && Number(text) <= 65535 ? undefined : 'a whole number from 0 to 65535';

function checkUrl(text: string): string | undefined {
  const found = parseBaseUrl(text, { allowHttp: false, secret: false });
  return typeof found === 'string' ? found : undefined;
}

const checkReference = (text: string): string | undefined =>
  text === '' || /^(env:[A-Za-z_][A-Za-z0-9_]*|file:.+)$/.test(text) ? undefined : 'env:NAME or file:path';

const checkRouteName = (text: string): string | undefined =>
  /^[a-z0-9][a-z0-9_-]{0,63}$/.test(text) ? undefined : 'lower-case letters, digits, - and _, at most 64';
