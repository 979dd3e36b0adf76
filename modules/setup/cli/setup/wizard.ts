/** The questions of `gateway setup`, each starting from what is set up already. */
import type { Prompter } from '../../../../cli/output/prompter.ts';
import type { SetupAnswers } from './answers.ts';
import { currentSetting, GENERATE } from './answers.ts';

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
  return {
    webhook: { enabled, host, port },
    settings: [],
    ...(secret === null ? {} : { secret }),
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

async function askRoute(ask: Prompter): Promise<NonNullable<SetupAnswers['route']> | null> {
  if (!(await ask.confirm('Make a first route?', false))) return null;
  const name = await ask.text('Its name, a part of its URL', '', checkRouteName);
  const events = await ask.text('Events it accepts, by comma; empty for all', '');
  const prompt = await ask.text('The prompt, with {fields} of the payload; empty for the whole payload', '');
  return {
    name,
    flags: { ...(events === '' ? {} : { events: [events] }), ...(prompt === '' ? {} : { prompt }) },
  };
}

const checkGiven = (text: string): string | undefined => (text.trim() === '' ? 'an answer is needed' : undefined);

const checkPort = (text: string): string | undefined =>
  /^\d{1,5}$/.test(text) && Number(text) <= 65535 ? undefined : 'a whole number from 0 to 65535';

const checkRouteName = (text: string): string | undefined =>
  /^[a-z0-9][a-z0-9_-]{0,63}$/.test(text) ? undefined : 'lower-case letters, digits, - and _, at most 64';
