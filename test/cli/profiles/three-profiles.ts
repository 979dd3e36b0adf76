/** Three profiles with the same names for everything; only the contents differ. */
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { TestContext } from 'node:test';
import { runInProcess } from '../../helpers/cli.ts';
import { startFakeHttp } from '../../helpers/fake-http.ts';
import { startGateway } from '../../helpers/gateway.ts';
import { sendAgain } from '../../helpers/send-again.ts';
import { tempDir } from '../../helpers/temp-dir.ts';

/** Three profiles with the same names for everything; only the contents differ. */
export const PROFILES = { default: '', red: 'profiles/red', blue: 'profiles/blue' } as const;
export type Profile = keyof typeof PROFILES;
export const CHATS: Readonly<Record<string, string>> = { default: '-100', red: '-200', blue: '-300' };

export const TOOLSETS: Readonly<Record<string, string>> = {
  default: 'web_search',
  red: 'clarify',
  blue: 'web_extract',
};

export const SECRETS: Readonly<Record<Profile, string>> = {
  default: 'a-secret-of-the-default',
  red: 'a-secret-of-the-red-one',
  blue: 'a-secret-of-the-blue-one',
};

/** The path of a profile's route. */
export const pathOf = (profile: Profile, route: string): string =>
  profile === 'default' ? `/webhooks/${route}` : `/p/${profile}/webhooks/${route}`;

export const belongings = (who: string, port: number): string => `  messenger_a:
    enabled: true
    token: env:TOKEN
    home_channel: "${CHATS[who]}"
    api_base: http://127.0.0.1:${port}
platform_toolsets:
  webhook: [${TOOLSETS[who]}]
agent:
  command: [sh, -c, "printf 'agent ${who} with %s: ' $HOOKWRIGHT_TOOLSETS; cat"]
jobs:
  nightly: { schedule: "0 3 * * *", prompt: job ${who}, deliver: messenger_a }
`;

export const ROUTE = `        prompt: "script {who}, env {token}"
        script: who.sh
        skills: [who]
        deliver: messenger_a
        mirror_to_session: true
`;

export function rootConfig(port: number): string {
  const bound = (name: string, profile: Profile): string =>
    `      ${name}:\n${profile === 'default' ? '' : `        profile: ${profile}\n`}        secret: env:SECRET_${profile.toUpperCase()}\n`;
  const route = (name: string, profile: Profile): string =>
    `${bound(name, profile)}${ROUTE}${bound(`${name}-job`, profile)}        cron_job: nightly\n`;
  return `platforms:
  webhook:
    enabled: true
    routes:
${route('plain', 'default')}${route('for-red', 'red')}${route('for-blue', 'blue')}${belongings('default', port)}gateway:
  multiplex_profiles: true
`;
}

export function write(home: string, path: string, text: string, mode = 0o600): void {
  mkdirSync(dirname(join(home, path)), { recursive: true });
  writeFileSync(join(home, path), text, { mode });
}

export function furnish(home: string, port: number): void {
  for (const [who, folder] of Object.entries(PROFILES)) {
    write(
      home,
      join(folder, '.env'),
      `TOKEN=1:token-${who}\n${
        who === 'default'
          ? Object.entries(SECRETS)
              .map(([name, secret]) => `SECRET_${name.toUpperCase()}=${secret}\n`)
              .join('')
          : ''
      }`,
    );
    write(home, join(folder, 'scripts/who.sh'), `printf '{"who":"${who}","token":"%s"}' "$TOKEN"\n`, 0o700);
    write(home, join(folder, 'skills/who/SKILL.md'), `skill ${who}\n`);
    if (who !== 'default') write(home, join(folder, 'config.yaml'), `platforms:\n${belongings(who, port)}`);
  }
}

export async function post(url: string, secret: string, id = ''): Promise<{ status: number; body: string }> {
  const body = JSON.stringify({ event_type: 'x', entity: 1 });
  const signature = `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;
  const headers = {
    'Content-Type': 'application/json',
    'X-Hub-Signature-256': signature,
    ...(id === '' ? {} : { 'X-GitHub-Delivery': id }),
  };
  const answer = await sendAgain(url, { method: 'POST', body, headers });
  return { status: answer.status, body: await answer.text() };
}

export async function world(t: TestContext) {
  const chat = await startFakeHttp(t, (_, at) => ({ body: { ok: true, result: { message_id: at } } }));
  const home = tempDir(t);
  furnish(home, chat.port);
  for (const who of Object.keys(PROFILES)) {
    const opened = await runInProcess(['session', 'open', 'messenger_a', String(CHATS[who]), '--profile', who], {
      home,
    });
    assert.equal(opened.code, 0, opened.stderr);
    assert.ok(opened.stdout.startsWith(join(home, PROFILES[who as Profile], 'sessions')), opened.stdout);
  }
  const gateway = await startGateway(t, { home, config: rootConfig(chat.port) });
  return { chat, home, gateway };
}

export const ROUTES = { default: 'plain', red: 'for-red', blue: 'for-blue' } as const;
export const NAMES = ['default', 'red', 'blue'] as const;
