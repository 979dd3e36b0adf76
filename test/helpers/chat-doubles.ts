/** Doubles of chat services with buttons: they take messages, and press buttons as the service does, signed. */
import assert from 'node:assert/strict';
import { createHmac, generateKeyPairSync, sign } from 'node:crypto';
import type { TestContext } from 'node:test';
import type { OperatedService } from '../../runtime/service/options.ts';
import type { Answer, SeenRequest } from './fake-http.ts';
import { startFakeHttp } from './fake-http.ts';
import { handleAgain } from './send-again.ts';

export interface Person {
  readonly id: string;
  readonly name: string;
  readonly bot?: boolean;
}

export interface Pressing {
  /** Value of the button. */
  readonly value: string;
  readonly person: Person;
  /** Default: the chat of the message. */
  readonly chat?: string;
  /** Workspace, server or account. Default: the service's own. */
  readonly account?: string;
  /** Default: now, in Unix seconds. */
  readonly at?: number;
  /** Default: the right one. */
  readonly secret?: string;
  /** Replaces the body, for Discord. */
  readonly raw?: string;
}

/** What a service differs in. */
interface ChatForm {
  readonly target: string;
  readonly chat: string;
  /** The settings under `platforms`, with the server as `{url}`. */
  readonly settings: Readonly<Record<string, string>>;
  readonly env: Readonly<Record<string, string>>;
  /** The values of the buttons of a message. */
  readonly values: (message: unknown) => readonly string[];
  /** Text that only the person sees, in the response or in a later request; null: neither has one. */
  readonly told: (response: unknown, requests: readonly SeenRequest[]) => string | null;
  readonly answer: (request: SeenRequest) => Answer;
  readonly isMessage: (request: SeenRequest) => boolean;
  readonly isUpdate: (request: SeenRequest) => boolean;
  readonly textOf: (update: unknown) => string;
  readonly callback: (
    press: Pressing,
    seen: readonly SeenRequest[],
  ) => { headers: Record<string, string>; body: string };
}

const now = (): number => Math.floor(Date.now() / 1000);
const SIGNING = 'slack-signing-secret-of-this-test';
const jsonOf = (value: unknown, ...path: readonly (string | number)[]): unknown =>
  path.reduce<unknown>((at, key) => (at as Record<string | number, unknown> | undefined)?.[key], value);

const slack: ChatForm = {
  target: 'slack',
  chat: 'C0123456789',
  settings: { token: 'env:SLACK_TOKEN', signing_secret: 'env:SIGNING', api_base: '{url}' },
  env: { SLACK_TOKEN: 'xoxb-token-of-this-test', SIGNING },
  values: (message) =>
    (jsonOf(message, 'attachments', 0, 'blocks', 0, 'elements') as { value: string }[]).map(({ value }) => value),
  told: (_, requests) => {
    const told = requests.findLast(({ path }) => path === '/chat.postEphemeral');
    return told === undefined ? null : String(jsonOf(told.json, 'text'));
  },
  answer: ({ path }) =>
    path === '/auth.test'
      ? { body: { ok: true, team_id: 'T1' } }
      : { body: { ok: true, ts: '1700000000.000100', channel: 'C0123456789' } },
  isMessage: ({ path }) => path === '/chat.postMessage',
  isUpdate: ({ path }) => path === '/chat.update',
  textOf: (update) => String(jsonOf(update, 'text')),
  callback: ({ value, person, chat = 'C0123456789', account = 'T1', at = now(), secret = SIGNING }) => {
    const payload = {
      type: 'block_actions',
      user: { id: person.id, username: person.name, team_id: account },
      team: { id: account, domain: 'example' },
      container: { type: 'message_attachment', message_ts: '1700000000.000100', channel_id: chat },
      channel: { id: chat },
      actions: [{ type: 'button', action_id: 'approve', value }],
    };
    const body = `payload=${encodeURIComponent(JSON.stringify(payload))}`;
    const mac = createHmac('sha256', secret).update(`v0:${at}:${body}`).digest('hex');
    const headers = {
      'content-type': 'application/x-www-form-urlencoded',
      'x-slack-request-timestamp': String(at),
      'x-slack-signature': `v0=${mac}`,
    };
    return { headers, body };
  },
};

const pair = generateKeyPairSync('ed25519');
const stranger = generateKeyPairSync('ed25519');
const rawKey = pair.publicKey.export({ format: 'der', type: 'spki' }).subarray(-32).toString('hex');

const discord: ChatForm = {
  target: 'discord',
  chat: '1100000000000000000',
  settings: { token: 'env:DISCORD_TOKEN', public_key: rawKey, api_base: '{url}' },
  env: { DISCORD_TOKEN: 'discord-token-of-this-test' },
  values: (message) =>
    (jsonOf(message, 'components', 0, 'components') as { custom_id: string }[]).map(({ custom_id }) => custom_id),
  told: (response) => (jsonOf(response, 'type') === 4 ? String(jsonOf(response, 'data', 'content')) : null),
  answer: ({ path }) => (path === '/users/@me' ? { body: { id: '900' } } : { body: { id: '555' } }),
  isMessage: ({ method, path }) => method === 'POST' && path.endsWith('/messages'),
  isUpdate: ({ method }) => method === 'PATCH',
  textOf: (update) => String(jsonOf(update, 'content')),
  callback: ({ value, person, chat = '1100000000000000000', account = '900', at = now(), secret, raw }) => {
    const user = { id: person.id, username: person.name, bot: person.bot ?? false };
    const press = JSON.stringify({
      type: 3,
      id: '777',
      channel_id: chat,
      member: { user },
      message: { id: '555', author: { id: account } },
      data: { component_type: 2, custom_id: value },
    });
    const body = raw ?? press;
    const key = secret === undefined ? pair.privateKey : stranger.privateKey;
    const signature = sign(null, Buffer.from(`${at}${body}`), key).toString('hex');
    const headers = {
      'content-type': 'application/json',
      'x-signature-timestamp': String(at),
      'x-signature-ed25519': signature,
    };
    return { headers, body };
  },
};

const telegram: ChatForm = {
  target: 'telegram',
  chat: '-1001234567890',
  settings: { token: 'env:TELEGRAM_TOKEN', api_base: '{url}' },
  env: { TELEGRAM_TOKEN: '123456:token-of-this-test' },
  values: (message) =>
    (jsonOf(message, 'reply_markup', 'inline_keyboard', 0) as { callback_data: string }[]).map(
      ({ callback_data }) => callback_data,
    ),
  told: (response) => (jsonOf(response, 'text') === undefined ? null : String(jsonOf(response, 'text'))),
  answer: ({ path }) =>
    path.endsWith('/getWebhookInfo')
      ? { body: { ok: true, result: { url: '' } } }
      : { body: { ok: true, result: { message_id: 55 } } },
  isMessage: ({ path }) => path.endsWith('/sendMessage'),
  isUpdate: ({ path }) => path.endsWith('/editMessageText'),
  textOf: (update) => String(jsonOf(update, 'text')),
  callback: ({ value, person, chat = '-1001234567890', secret }, seen) => {
    const registered = seen.find(({ path }) => path.endsWith('/setWebhook'));
    const token = secret ?? String(jsonOf(registered?.json, 'secret_token'));
    const body = JSON.stringify({
      update_id: 1,
      callback_query: {
        id: '4242',
        from: { id: Number(person.id), is_bot: person.bot ?? false, username: person.name },
        message: { message_id: 55, chat: { id: Number(chat) } },
        data: value,
      },
    });
    return { headers: { 'content-type': 'application/json', 'x-telegram-bot-api-secret-token': token }, body };
  },
};

export const CHATS = { slack, discord, telegram } as const;

export type ChatName = keyof typeof CHATS;

export type ChatDouble = Awaited<ReturnType<typeof startChat>>;

/** @param answer replaces the answers of the service; undefined: the usual one */
export async function startChat(
  t: Pick<TestContext, 'after'>,
  name: ChatName,
  answer: (request: SeenRequest) => Answer | undefined = () => undefined,
) {
  const form = CHATS[name];
  const server = await startFakeHttp(t, (request) => answer(request) ?? form.answer(request));
  const { seen } = server;
  const settings = Object.entries({
    enabled: 'true',
    allow_http: 'true',
    home_channel: `"${form.chat}"`,
    ...form.settings,
  });
  return {
    ...form,
    seen,
    /** The entry under `platforms`. */
    yaml: `{ ${settings.map(([key, value]) => `${key}: ${value.replace('{url}', `"${server.url}"`)}`).join(', ')} }`,
    messages: () => seen.filter(form.isMessage).map(({ json }) => json),
    updates: () => seen.filter(form.isUpdate).map(({ json }) => form.textOf(json)),
    /** Presses a button; returns the response. */
    press: async (service: Pick<OperatedService, 'handle'>, press: Pressing) => {
      const { headers, body } = form.callback(press, seen);
      const request = new Request(`http://x/approvals/${name}`, { method: 'POST', headers, body });
      const response = await handleAgain(service, request);
      const text = await response.text();
      assert.notEqual(response.status, 500, text);
      const json: unknown = text.startsWith('{') ? JSON.parse(text) : null;
      return { status: response.status, json };
    },
  };
}
