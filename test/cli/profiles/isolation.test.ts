import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { TestContext } from 'node:test';
import { test } from 'node:test';
import { runInProcess, startInProcess } from '../../helpers/cli.ts';
import { startFakeHttp } from '../../helpers/fake-http.ts';
import { startGateway, until } from '../../helpers/gateway.ts';
import { tempDir } from '../../helpers/temp-dir.ts';

/** Two profiles and the default one have everything under the same names; only the contents tell whose it is. */
const PROFILES = { default: '', red: 'profiles/red', blue: 'profiles/blue' } as const;
type Profile = keyof typeof PROFILES;
const CHATS: Readonly<Record<string, string>> = { default: '-100', red: '-200', blue: '-300' };

const TOOLSETS: Readonly<Record<string, string>> = { default: 'web_search', red: 'clarify', blue: 'web_extract' };

const SECRETS: Readonly<Record<Profile, string>> = {
  default: 'a-secret-of-the-default',
  red: 'a-secret-of-the-red-one',
  blue: 'a-secret-of-the-blue-one',
};

/** Where a route of a profile is served. */
const pathOf = (profile: Profile, route: string): string =>
  profile === 'default' ? `/webhooks/${route}` : `/p/${profile}/webhooks/${route}`;

const belongings = (who: string, port: number): string => `  messenger_a:
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

const ROUTE = `        prompt: "script {who}, env {token}"
        script: who.sh
        skills: [who]
        deliver: messenger_a
        mirror_to_session: true
`;

function rootConfig(port: number): string {
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

function write(home: string, path: string, text: string, mode = 0o600): void {
  mkdirSync(dirname(join(home, path)), { recursive: true });
  writeFileSync(join(home, path), text, { mode });
}

function furnish(home: string, port: number): void {
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

async function post(url: string, secret: string, id = ''): Promise<{ status: number; body: string }> {
  const body = JSON.stringify({ event_type: 'x', entity: 1 });
  const signature = `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;
  const headers = {
    'Content-Type': 'application/json',
    'X-Hub-Signature-256': signature,
    ...(id === '' ? {} : { 'X-GitHub-Delivery': id }),
  };
  const answer = await fetch(url, { method: 'POST', body, headers });
  return { status: answer.status, body: await answer.text() };
}

async function world(t: TestContext) {
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

const ROUTES = { default: 'plain', red: 'for-red', blue: 'for-blue' } as const;
const NAMES = ['default', 'red', 'blue'] as const;

test('a run reaches the credentials, chat, agent, toolsets, script, skill and session of its own profile, and no other', async (t) => {
  const { chat, home, gateway } = await world(t);
  for (const who of NAMES) {
    const before = chat.seen.length;
    assert.equal((await post(gateway.url + pathOf(who, ROUTES[who]), SECRETS[who])).status, 202);
    await until(async () => chat.seen.length > before);
    const [sent] = chat.seen.slice(before);
    assert.equal(sent?.path, `/bot1:token-${who}/sendMessage`);
    const { chat_id, text } = (sent?.json ?? {}) as { chat_id?: unknown; text?: string };
    assert.equal(String(chat_id), CHATS[who]);
    assert.equal(text?.trim(), `agent ${who} with ${TOOLSETS[who]}: skill ${who}\n\nscript ${who}, env`);
  }
  for (const [who, folder] of Object.entries(PROFILES)) {
    const shown = await until(async () => {
      const { stdout } = await runInProcess(
        ['session', 'show', 'messenger_a', String(CHATS[who]), '--profile', who, '--json'],
        { home },
      );
      return stdout.includes('agent ') ? stdout : null;
    });
    for (const other of Object.keys(PROFILES)) assert.equal(shown.includes(`agent ${other}`), other === who, folder);
  }
});

test('a job that three profiles have under one name is that of its route, or of --profile', async (t) => {
  const { chat, gateway } = await world(t);
  const said = async (who: Profile, from: number): Promise<void> => {
    const sent = await until(async () => chat.seen[from]);
    assert.equal(sent.path, `/bot1:token-${who}/sendMessage`);
    const { chat_id, text = '' } = sent.json as { chat_id?: unknown; text?: string };
    assert.equal(String(chat_id), CHATS[who]);
    assert.match(text, new RegExp(`^agent ${who} with ${TOOLSETS[who]}: job ${who}\\b`));
  };
  for (const [at, who] of NAMES.entries()) {
    assert.equal((await post(gateway.url + pathOf(who, `${ROUTES[who]}-job`), SECRETS[who])).status, 202);
    await said(who, at);
  }
  assert.equal((await gateway.cli('job', 'run', 'nightly', '--profile', 'blue')).code, 0);
  await said('blue', 3);
  const edited = await gateway.cli(
    'job',
    'create',
    'mine',
    '--schedule',
    '0 4 * * *',
    '--prompt',
    'x',
    '--profile',
    'red',
  );
  assert.equal(edited.code, 0, edited.stderr);
  const strange = await gateway.cli('job', 'run', 'mine', '--profile', 'blue');
  assert.equal(strange.code, 1);
  assert.match(strange.stderr, /there is no job "mine"/);
});

test('an agent behind a server is asked with the key of its own profile', async (t) => {
  const answer = { body: { choices: [{ message: { role: 'assistant', content: 'ok' } }] } };
  const server = await startFakeHttp(t, () => answer);
  const home = tempDir(t);
  const agent = `agent:\n  openai: { base_url: "http://127.0.0.1:${server.port}/v1", model: m, api_key: env:KEY }\n`;
  const routes = 'plain: { prompt: x }\n      for-red: { prompt: x, profile: red, secret: env:WEBHOOK_SECRET }\n';
  write(home, '.env', `WEBHOOK_SECRET=${SECRETS.default}\nKEY=key-of-default\n`);
  write(home, 'profiles/red/.env', 'KEY=key-of-red\n');
  write(home, 'profiles/red/config.yaml', agent);
  const config = `platforms:\n  webhook:\n    enabled: true\n    secret: env:WEBHOOK_SECRET\n    routes:\n      ${routes}${agent}gateway: { multiplex_profiles: true }\n`;
  const gateway = await startGateway(t, { home, config });
  for (const [at, who] of (['default', 'red'] as const).entries()) {
    assert.equal((await post(gateway.url + pathOf(who, ROUTES[who]), SECRETS.default)).status, 202);
    const asked = await until(async () => server.seen[at]);
    assert.equal(asked.headers.authorization, `Bearer key-of-${who}`);
  }
});

/** Red has it first, then blue: route names are of the table, all that is remembered of their events is of the profile. */
const MOVED = { prompt: '{entity}', secret: SECRETS.red, deliver: 'log', rate_limit: 3 };

test('what was remembered of a route in one profile counts for nothing in another', async (t) => {
  const { home, gateway } = await world(t);
  const bind = (profile: Profile): void =>
    write(
      home,
      'webhook_subscriptions.json',
      JSON.stringify({
        feed: { ...MOVED, profile },
        burst: { ...MOVED, profile, coalesce: { key: 'entity', window_seconds: 300 } },
      }),
    );
  const send = async (profile: Profile, route: string, id = ''): Promise<unknown[]> => {
    const { status, body } = await post(gateway.url + pathOf(profile, route), SECRETS.red, id);
    const { status: said, superseded, code } = JSON.parse(body) as Record<string, unknown>;
    return [status, code ?? said, ...(superseded === undefined ? [] : [superseded])];
  };
  for (const profile of ['red', 'blue'] as const) {
    bind(profile);
    assert.deepEqual(await send(profile, 'feed', 'one'), [202, 'accepted'], 'a new delivery id');
    assert.deepEqual(await send(profile, 'feed', 'one'), [200, 'duplicate']);
    assert.deepEqual(await send(profile, 'burst'), [202, 'coalesced', 0], 'a group of its own');
    assert.deepEqual(await send(profile, 'burst'), [202, 'coalesced', 1]);
    assert.deepEqual(await send(profile, 'feed'), [202, 'accepted'], 'a rate window of its own');
    assert.deepEqual(await send(profile, 'feed'), [429, 'rate_limited']);
  }
  await gateway.stop();
  const listed = await runInProcess(['deliveries', 'list', '--route', 'burst', '--json'], { home });
  const groups = JSON.parse(listed.stdout) as { profile: string; state: string }[];
  assert.deepEqual(
    groups
      .filter(({ state }) => state === 'done')
      .map(({ profile }) => profile)
      .sort(),
    ['blue', 'red'],
    'each profile runs its own',
  );
});

test('unknown route, unknown profile and mismatch have one answer, however well they are signed', async (t) => {
  const { gateway } = await world(t);
  const red = SECRETS.red;
  const paths = [
    '/webhooks/nothing',
    '/p/nobody/webhooks/for-red',
    '/p/blue/webhooks/for-red',
    '/webhooks/for-red',
    '/p/default/webhooks/for-red',
    '/p/red/webhooks/plain',
    '/p/red/webhooks/for-blue',
    '/p/red/webhooks/for-red/',
    '/p/RED/webhooks/for-red',
  ];
  const answers = await Promise.all(paths.map((path) => post(gateway.url + path, red)));
  for (const [at, answer] of answers.entries()) assert.deepEqual(answer, answers[0], paths[at]);
  assert.equal(answers[0]?.status, 404);
  assert.equal((await post(`${gateway.url}/p/red/webhooks/for-red`, SECRETS.blue)).status, 401);
  assert.equal((await post(`${gateway.url}/p/red/webhooks/for-red`, red)).status, 202);
});

/** Takes one thing away from red that the others still have, or points it at theirs. */
const spoils: readonly (readonly [string, (home: string) => void, RegExp])[] = [
  [
    'a target',
    (home) => write(home, 'profiles/red/config.yaml', '{}\n'),
    /profile-incomplete.*messenger_a.*not enabled.*profile `red`/,
  ],
  [
    'a skill',
    (home) => rmSync(join(home, 'profiles/red/skills/who/SKILL.md')),
    /profile-incomplete.*who.*profile `red`/,
  ],
  [
    'a script',
    (home) => rmSync(join(home, 'profiles/red/scripts/who.sh')),
    /profile-incomplete.*who\.sh.*profiles\/red\/scripts/,
  ],
  [
    'a script behind a link',
    (home) => {
      rmSync(join(home, 'profiles/red/scripts/who.sh'));
      symlinkSync(join(home, 'profiles/blue/scripts/who.sh'), join(home, 'profiles/red/scripts/who.sh'));
    },
    /script-outside/,
  ],
  [
    'a variable of the process',
    (home) => write(home, 'profiles/red/.env', ''),
    /target messenger_a of profile red: .*env:TOKEN is not set in .*\/profiles\/red\/\.env/,
  ],
];
for (const [what, spoil, expected] of spoils) {
  test(`${what} that only another profile has is refused before anything is served`, async (t) => {
    const home = tempDir(t);
    furnish(home, 1);
    spoil(home);
    write(home, 'config.yaml', rootConfig(1));
    const start = startInProcess(['gateway', 'run', '--port', '0'], { home, env: { TOKEN: 'of-the-process' } });
    const watch = setInterval(() => start.stderr().includes('listening') && start.signal('SIGTERM'), 20);
    const refusal = await start.done;
    clearInterval(watch);
    assert.equal(refusal.code, 1);
    assert.match(refusal.stderr, expected);
  });
}

test('a job of another profile is unknown, and an agent that a profile lacks is not borrowed', async (t) => {
  const home = tempDir(t);
  furnish(home, 1);
  write(
    home,
    'config.yaml',
    rootConfig(1)
      .replace('jobs:\n', 'jobs:\n  weekly: { schedule: "0 3 * * 1", prompt: x }\n')
      .replace(
        /(for-red:\n)([\s\S]*?)( {6}for-blue)/,
        '$1        profile: red\n        secret: env:SECRET_RED\n        cron_job: weekly\n$3',
      ),
  );
  const refused = await runInProcess(['lint'], { home });
  assert.match(refused.stdout, /unknown-job: there is no job `weekly`/);
  write(home, 'config.yaml', rootConfig(1));
  const config = join(home, 'profiles/red/config.yaml');
  writeFileSync(config, readFileSync(config, 'utf8').replace(/agent:\n.*\n/, ''));
  const { stdout } = await runInProcess(['profile', 'show', 'red', '--json'], { home });
  assert.match((JSON.parse(stdout) as { agent: string }).agent, /^none/);
});

test('with profiles switched off their paths are unknown', async (t) => {
  const home = tempDir(t);
  const config =
    'platforms:\n  webhook:\n    enabled: true\n    secret: a-secret-of-the-default\n    routes:\n      plain: { prompt: x }\n      for-red: { prompt: x, profile: red }\n';
  const gateway = await startGateway(t, { home, config });
  assert.equal((await post(`${gateway.url}/p/red/webhooks/for-red`, 'a-secret-of-the-default')).status, 404);
  assert.equal((await post(`${gateway.url}/p/default/webhooks/plain`, 'a-secret-of-the-default')).status, 404);
  assert.equal((await post(`${gateway.url}/webhooks/plain`, 'a-secret-of-the-default')).status, 202);
});
