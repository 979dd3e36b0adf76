/** Tests which secrets agents and scripts can see, with real processes. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { describe, it } from 'node:test';
import { atEnd } from '../helpers/at-end.ts';
import { runInProcess, startProcess } from '../helpers/cli.ts';
import { startGateway, until } from '../helpers/gateway.ts';
import { LOADER, moduleUrl } from '../helpers/node-argv.ts';
import { tempDir } from '../helpers/temp-dir.ts';

const LINUX = { skip: process.platform !== 'linux' };

/** Every kind of secret in a variable, and variables that are private. */
const CANARIES = {
  WEBHOOK_SECRET: 'canary-global-0123456789',
  ROUTE_SECRET: 'canary-route-0123456789',
  OLD_SECRET: 'canary-old-0123456789',
  VERIFY: 'canary-verify-0123456789',
  TARGET_TOKEN: '123456:canary-target-0123456789',
  SUBSCRIBED: 'canary-subscribed-0123456789',
  HTTP_PROXY_KEY: 'canary-unreferenced-0123456789',
  // Allowed by its name, but still a secret.
  LC_SECRET: 'canary-allowed-0123456789',
} as const;

const AGENT = `#!/bin/sh
{ echo "cwd=$(pwd -P)"; env; echo "--- parent"; tr '\\0' '\\n' < /proc/$PPID/environ; } > "$OUT" 2>/dev/null
echo "$OUT_SECRETS" >&2
exit 1
`;

const config = (home: string): string => `platforms:
  webhook:
    enabled: true
    secret: env:WEBHOOK_SECRET
    routes:
      ci: { prompt: "{x}", secrets: [env:ROUTE_SECRET, env:OLD_SECRET] }
      meta: { source: meta, prompt: "{x}", secret: env:LC_SECRET, verify_token: env:VERIFY }
      work: { prompt: "{x}", profile: work }
      scripted: { prompt: "{x}", script: look.sh }
  messenger_a: { enabled: true, token: env:TARGET_TOKEN, home_channel: "1" }
gateway: { multiplex_profiles: true }
agent:
  command: [./agent.sh]
  env:
    OUT: ${home}/seen
    OWN_KEY: env:OWN_KEY
    OUT_SECRETS: "file:all"
`;

/** The home of a gateway with two profiles, whose agents record what they see. */
function prepareHome(t: TestContext): string {
  const home = tempDir(t);
  const other = join(home, 'profiles', 'work');
  mkdirSync(other, { recursive: true });
  mkdirSync(join(home, 'scripts'));
  writeFileSync(join(home, 'config.yaml'), config(home), { mode: 0o600 });
  writeFileSync(join(home, 'all'), Object.values({ ...CANARIES, FILE: 'canary-in-env-file-0123456789' }).join(' '));
  const agent = `agent: { command: [./agent.sh], env: { OUT: "${home}/seen-work" } }\n`;
  writeFileSync(join(other, 'config.yaml'), agent, { mode: 0o600 });
  for (const folder of [home, other]) writeFileSync(join(folder, 'agent.sh'), AGENT, { mode: 0o700 });
  const look = `{ env; tr '\\0' '\\n' < /proc/$PPID/environ; } > ${home}/seen-script; echo '{"x":"s"}'`;
  writeFileSync(join(home, 'scripts/look.sh'), look);
  const dynamic = { dyn: { prompt: '{x}', secret: 'env:SUBSCRIBED' } };
  writeFileSync(join(home, 'webhook_subscriptions.json'), JSON.stringify(dynamic), { mode: 0o600 });
  writeFileSync(join(home, '.env'), 'OWN_KEY=canary-in-env-file-0123456789\n', { mode: 0o600 });
  return home;
}

describe('a gateway whose secrets are variables', LINUX, () => {
  it('hides them from agents and scripts of all profiles, logs and stored reasons', async (t) => {
    const home = prepareHome(t);
    const env = { ...CANARIES, HTTPS_PROXY: 'http://127.0.0.1:9', LANG: 'C' };
    const child = startProcess(['gateway', 'run', '--port', '0'], { home, env });
    const log: string[] = [];
    child.stderr?.setEncoding('utf8').on('data', (text: string) => log.push(text));
    const ended = new Promise((resolve) => child.once('exit', resolve));
    atEnd(t, () => child.kill('SIGKILL'));
    await until(() => Promise.resolve(/"listening"/.test(log.join('')) || child.exitCode !== null));
    assert.equal(child.exitCode, null, log.join(''));
    const options = { home, env };
    for (const route of ['ci', 'scripted', 'work', 'dyn']) {
      const sent = await runInProcess(['webhook', 'test', route, '--payload', '{"x":"1"}'], options);
      assert.equal(sent.code, 0, `${route}: ${sent.stderr}${sent.stdout}`);
    }
    await until(() =>
      Promise.resolve(['seen', 'seen-work', 'seen-script'].every((file) => existsSync(join(home, file)))),
    );
    const failed = async (): Promise<boolean> => {
      const { stdout } = await runInProcess(['deliveries', 'list', '--json'], options);
      return (JSON.parse(stdout) as { state: string }[]).filter(({ state }) => state === 'dead').length >= 4;
    };
    await until(failed);
    const { stdout: stored } = await runInProcess(['deliveries', 'list', '--json'], options);
    child.kill('SIGTERM');
    await ended;

    const seen = readFileSync(join(home, 'seen'), 'utf8');
    assert.match(seen, /^OWN_KEY=canary-in-env-file-0123456789$/m);
    assert.match(seen, /^HTTPS_PROXY=http:\/\/127\.0\.0\.1:9$/m);
    assert.match(seen, /^HOOKWRIGHT_ROUTE=/m);
    assert.match(seen, /^--- parent\n(.*\n)*PATH=/m);
    assert.match(readFileSync(join(home, 'seen-work'), 'utf8'), /^HOOKWRIGHT_PROFILE=work$/m);
    for (const [name, canary] of Object.entries(CANARIES)) {
      for (const file of ['seen', 'seen-work', 'seen-script']) {
        const [own = '', parent = ''] = readFileSync(join(home, file), 'utf8')
          .replace(/^OUT_SECRETS=.*$/m, '')
          .split('--- parent');
        const text = name === 'HTTP_PROXY_KEY' ? own : own + parent;
        // A variable that nothing refers to is not read, so it stays in the gateway's own environment.
        if (name !== 'HTTP_PROXY_KEY' || file !== 'seen-script')
          assert.ok(!text.includes(canary), `${name} in ${file}`);
      }
      if (name === 'HTTP_PROXY_KEY') continue;
      assert.ok(!log.join('').includes(canary), `${name} in the log`);
      assert.ok(!stored.includes(canary), `${name} in a stored reason`);
    }
    assert.ok(!log.join('').includes('canary-in-env-file'), 'agent.env in the log');
    assert.match(stored, /\b1\b.*\*\*\*/);

    assert.match(seen, /^cwd=.*\/work\/runs\/[0-9a-f-]+$/m);
    for (const folder of ['work', 'profiles/work/work']) assert.equal(statSync(join(home, folder)).mode & 0o777, 0o700);
  });
});

describe('a variable that is removed', LINUX, () => {
  it('is hidden from other processes, but other variables are not', () => {
    const module = moduleUrl(new URL('../../cli/base/context.js', import.meta.url));
    const script = `const { forgetVariables } = await import('${module}');
      const { readFileSync } = await import('node:fs');
      const ok = forgetVariables(process.env, new Set(['ONE', 'LAST', 'NONE', 'EMPTY']));
      const seen = readFileSync('/proc/self/environ', 'latin1');
      console.log(JSON.stringify({ ok, seen, one: process.env.ONE ?? null, two: process.env.TWO }));`;
    const values = { ONE: 'canary one=é', EMPTY: '', TWO: 'stays=ONE', ONE_MORE: 'stays', LAST: 'canary-last' };
    const env = { PATH: process.env.PATH, ...values };
    const found = spawnSync(process.execPath, [...LOADER, '--input-type=module', '-e', script], {
      env,
      encoding: 'utf8',
    });
    const { ok, seen, one, two } = JSON.parse(found.stdout) as Record<string, string>;
    assert.deepEqual([ok, one, two], [true, null, 'stays=ONE'], found.stderr);
    assert.ok(!seen?.includes('canary'), seen);
    assert.match(seen ?? '', /TWO=stays=ONE\0ONE_MORE=stays\0/);
  });
});

describe('the folder of a command agent', () => {
  it('is agent.cwd if set, and a missing one is reported', async (t) => {
    const home = tempDir(t);
    mkdirSync(join(home, 'desk'));
    const text = (cwd: string): string => `platforms:
  webhook: { enabled: true, secret: 0123456789abcdef-a-key, routes: { ci: { prompt: "{x}" } } }
agent: { command: [sh, -c, 'pwd -P > here; exit 1'], cwd: ${cwd} }
`;
    const gateway = await startGateway(t, { home, config: text('desk') });
    await gateway.cli('webhook', 'test', 'ci', '--payload', '{}');
    await until(() => Promise.resolve(existsSync(join(home, 'desk/here'))));
    writeFileSync(join(home, 'config.yaml'), text('nowhere'), { mode: 0o600 });
    await gateway.cli('gateway', 'reload');
    await gateway.cli('webhook', 'test', 'ci', '--payload', '{}');
    const listed = await until(async () => {
      const { stdout } = await gateway.cli('deliveries', 'list', '--json');
      return stdout.includes('nowhere') && stdout;
    });
    assert.match(listed, /nowhere\b.*\bENOENT\b/);
    assert.ok(!existsSync(join(home, 'nowhere')));
  });
});
