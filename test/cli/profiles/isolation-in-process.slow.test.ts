import assert from 'node:assert/strict';
import { readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { runInProcess, startInProcess } from '../../helpers/cli.ts';
import { sendRaw } from '../../helpers/serve.ts';
import { tempDir } from '../../helpers/temp-dir.ts';
import { furnish, post, rootConfig, SECRETS, world, write } from './three-profiles.ts';

test('an unknown route, an unknown profile and a mismatch get the same answer, even with a valid signature', async (t) => {
  const { gateway } = await world(t);
  const red = SECRETS.red;
  const paths = [
    '/webhooks/nothing',
    '/p/unknown/webhooks/for-red',
    '/p/blue/webhooks/for-red',
    '/webhooks/for-red',
    '/p/default/webhooks/for-red',
    '/p/red/webhooks/plain',
    '/p/red/webhooks/for-blue',
    '/p/red/webhooks/for-red//',
    '/p/RED/webhooks/for-red',
  ];
  const answers = await Promise.all(paths.map((path) => post(gateway.url + path, red)));
  for (const [at, answer] of answers.entries()) assert.deepEqual(answer, answers[0], paths[at]);
  assert.equal(answers[0]?.status, 404);
  assert.equal((await post(`${gateway.url}/p/red/webhooks/for-red`, SECRETS.blue)).status, 401);
  assert.equal((await post(`${gateway.url}/p/red/webhooks/for-red`, red)).status, 202);
});

test('whatever is asked, a route of a profile looks like a missing one under any other path', async (t) => {
  const { gateway } = await world(t);
  const send = async (method: string, path: string, more: string, body = ''): Promise<string> => {
    const head = `${method} ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${more}\r\n`;
    const answer = await sendRaw(Number(new URL(gateway.url).port), [head + body]);
    return answer.replace(/^Date: .*\r\n/im, '');
  };
  const requests: readonly (readonly [method: string, more: string, body?: string])[] = [
    ...(['GET', 'HEAD', 'OPTIONS', 'DELETE'] as const).map(
      (method) => [method, 'Origin: https://a.example\r\n'] as const,
    ),
    ['POST', 'Content-Length: 2\r\nExpect: 100-continue\r\n'],
    ['POST', `Content-Length: 2\r\nX-Hub-Signature-256: sha256=${'0'.repeat(64)}\r\n`, '{}'],
    ['POST', 'Content-Length: 2\r\nContent-Encoding: gzip\r\n', '{}'],
  ];
  const paths = [
    ...['/p/blue/webhooks/for-red', '/webhooks/for-red', '/p/red/webhooks/plain', '/p/blue/../red/webhooks/for-red'],
    ...[
      '/p/%72ed/webhooks/for-red',
      '/p/red%2fwebhooks/for-red',
      '/p//red/webhooks/for-red',
      '/p/red/webhooks/FOR-RED',
    ],
    ...['/p/blue/webhooks/for-red/status/x', '/p/blue/webhooks/for-red?hub.challenge=1', '/p/red/health', '/p/red/'],
  ];
  for (const [method, more, body] of requests) {
    const missing = await send(method, '/p/nothing/webhooks/nothing', more, body);
    assert.match(missing, /^HTTP\/1\.1 404 /);
    for (const path of paths) assert.equal(await send(method, path, more, body), missing, `${method} ${path}`);
  }
});

/** Removes something from red that the others have, or makes it refer to theirs. */
const spoils: readonly (readonly [string, (home: string) => void, RegExp])[] = [
  ['a target', (home) => write(home, 'profiles/red/config.yaml', '{}\n'), /profile-incomplete.*messenger_a.*`red`/],
  ['a skill', (home) => rmSync(join(home, 'profiles/red/skills/who/SKILL.md')), /profile-incomplete.*who.*`red`/],
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
    /messenger_a.* red: .*env:TOKEN.*\/profiles\/red\/\.env/,
  ],
];
for (const [what, spoil, expected] of spoils) {
  test(`${what} of another profile is rejected before anything is served`, async (t) => {
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

test('a profile uses neither jobs nor agents of another profile', async (t) => {
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
  assert.match(refused.stdout, /unknown-job: .*`weekly`/);
  write(home, 'config.yaml', rootConfig(1));
  const config = join(home, 'profiles/red/config.yaml');
  writeFileSync(config, readFileSync(config, 'utf8').replace(/agent:\n.*\n/, ''));
  const { stdout } = await runInProcess(['profile', 'show', 'red', '--json'], { home });
  assert.match((JSON.parse(stdout) as { agent: string }).agent, /^none/);
});
