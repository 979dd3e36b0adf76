/** Isolation of profiles in a gateway with the same names in each profile. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runInProcess } from '../../helpers/cli.ts';
import { startFakeHttp } from '../../helpers/fake-http.ts';
import { startGateway, until } from '../../helpers/gateway.ts';
import { tempDir } from '../../helpers/temp-dir.ts';
import type { Profile } from './three-profiles.ts';
import { CHATS, NAMES, PROFILES, pathOf, post, ROUTES, SECRETS, TOOLSETS, world, write } from './three-profiles.ts';

test('a run uses only the credentials, chat, agent, toolsets, script, skill and session of its profile', async (t) => {
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

test('a job name in three profiles means the job in the profile of the route, or of --profile', async (t) => {
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
  assert.equal((await gateway.cli('job', 'run', 'mine', '--profile', 'blue')).code, 1);
});

const KEYS = { default: 'q8Lw2Zr5TnVc90', red: 'm3Xc7Vb1KsPd46' } as const;

test('an agent server is called with the key of the profile', async (t) => {
  const answer = { body: { choices: [{ message: { role: 'assistant', content: 'ok' } }] } };
  const server = await startFakeHttp(t, () => answer);
  const home = tempDir(t);
  const agent = `agent:\n  openai: { base_url: "http://127.0.0.1:${server.port}/v1", model: m, api_key: env:KEY }\n`;
  const routes = 'plain: { prompt: x }\n      for-red: { prompt: x, profile: red, secret: env:WEBHOOK_SECRET }\n';
  write(home, '.env', `WEBHOOK_SECRET=${SECRETS.default}\nKEY=${KEYS.default}\n`);
  write(home, 'profiles/red/.env', `KEY=${KEYS.red}\n`);
  write(home, 'profiles/red/config.yaml', agent);
  const config = `platforms:\n  webhook:\n    enabled: true\n    secret: env:WEBHOOK_SECRET\n    routes:\n      ${routes}${agent}gateway: { multiplex_profiles: true }\n`;
  const gateway = await startGateway(t, { home, config });
  for (const [at, who] of (['default', 'red'] as const).entries()) {
    assert.equal((await post(gateway.url + pathOf(who, ROUTES[who]), SECRETS.default)).status, 202);
    const asked = await until(async () => server.seen[at]);
    assert.equal(asked.headers.authorization, `Bearer ${KEYS[who]}`);
  }
});

/** First red has the route, then blue. Route names belong to the table, the state of their events to the profile. */
const MOVED = { prompt: '{entity}', secret: SECRETS.red, deliver: 'log', rate_limit: 3 };

test('the state of a route in one profile does not apply to another', async (t) => {
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
    assert.deepEqual(await send(profile, 'burst'), [202, 'coalesced', 0], 'its own group');
    assert.deepEqual(await send(profile, 'burst'), [202, 'coalesced', 1]);
    assert.deepEqual(await send(profile, 'feed'), [202, 'accepted'], 'its own rate window');
    assert.deepEqual(await send(profile, 'feed'), [202, 'accepted'], 'the duplicate has used up nothing');
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

test('with profiles off their paths are unknown', async (t) => {
  const home = tempDir(t);
  const config =
    'platforms:\n  webhook:\n    enabled: true\n    secret: a-secret-of-the-default\n    routes:\n      plain: { prompt: x }\n      for-red: { prompt: x, profile: red }\n';
  const gateway = await startGateway(t, { home, config });
  assert.equal((await post(`${gateway.url}/p/red/webhooks/for-red`, 'a-secret-of-the-default')).status, 404);
  assert.equal((await post(`${gateway.url}/p/default/webhooks/plain`, 'a-secret-of-the-default')).status, 404);
  assert.equal((await post(`${gateway.url}/webhooks/plain`, 'a-secret-of-the-default')).status, 202);
});
