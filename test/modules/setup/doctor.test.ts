/** `doctor` finds problems, prints a fix for each, and delivers nothing. */
import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { test } from 'node:test';
import { SMTPServer } from 'smtp-server';
import type { Check } from '../../../cli/base/check.ts';
import { checkClock } from '../../../modules/setup/cli/doctor/check-targets.ts';
import { runInProcess } from '../../helpers/cli.ts';
import type { Answering } from '../../helpers/fake-http.ts';
import { startFakeHttp } from '../../helpers/fake-http.ts';
import { tempDir } from '../../helpers/temp-dir.ts';

interface Setting {
  readonly config: string;
  readonly env?: Readonly<Record<string, string>>;
}

async function doctor(home: string, { config, env = {} }: Setting, ...argv: readonly string[]) {
  writeFileSync(join(home, 'config.yaml'), config);
  const result = await runInProcess(['doctor', '--json', ...argv], { home, env: { PATH: join(home, 'bin'), ...env } });
  const checks = JSON.parse(result.stdout) as readonly Check[];
  const of = (subject: string, check: string): Check | undefined =>
    checks.find((one) => one.subject === subject && one.check === check);
  return { ...result, checks, of };
}

const WEBHOOK = 'webhook: { enabled: true, port: 0, secret: env:WEBHOOK_SECRET }';
const SECRET = { WEBHOOK_SECRET: 'canary-0123456789abcdef' };

test('without problems it prints a table and exits 0', async (t) => {
  const home = tempDir(t);
  writeFileSync(join(home, 'config.yaml'), `platforms:\n  ${WEBHOOK}\n  telegram: { enabled: true, token: env:TG }\n`);
  const result = await runInProcess(['doctor'], { home, env: { ...SECRET, TG: '1:canary' } });
  assert.equal(result.code, 0, result.stdout);
  assert.match(result.stdout, /\nok +configuration .*\S+config\.yaml: 0 /);
  assert.match(result.stdout, /\nok +telegram +credentials .*\nskipped +telegram +host .*--live\n$/);
  assert.doesNotMatch(result.stdout, /canary|fix:/);
});

test('without a configuration it prints how to create one', async (t) => {
  const { code, stdout } = await runInProcess(['doctor', '--json'], { home: tempDir(t) });
  assert.equal(code, 1);
  const [{ detail, fix } = { detail: '', fix: '' }] = JSON.parse(stdout) as readonly Check[];
  assert.match(detail, /config file/);
  assert.equal(fix, '`hookwright init` writes one');
});

test('each missing item is a failed check with a fix, and the exit code is 1', async (t) => {
  const home = tempDir(t);
  mkdirSync(join(home, 'profiles/work'), { recursive: true });
  writeFileSync(join(home, 'profiles/work/config.yaml'), 'platforms:\n  slack: { enabled: true, token: env:SLACK }\n');
  const config = `
gateway: { multiplex_profiles: true }
platforms:
  ${WEBHOOK.replace('}', ', routes: { a: { prompt: "{x}", deliver: github, deliver_extra: { repo: o/r, pr_number: "1" } } } }')}
  telegram: { enabled: true, token: env:TG }
`;
  const { code, of, stdout } = await doctor(home, { config });
  assert.equal(code, 1);
  assert.equal(of('telegram', 'credentials')?.status, 'failed');
  assert.match(of('telegram', 'credentials')?.fix ?? '', /\bTG\b/);
  assert.equal(of('slack', 'credentials')?.fix, 'set SLACK');
  assert.equal(of('slack', 'credentials')?.profile, 'work');
  assert.equal(of('server', 'secret')?.status, 'failed');
  assert.deepEqual(
    [of('github_comment', 'gh')?.status, of('github_comment', 'gh')?.fix],
    ['failed', 'install it: https://cli.github.com'],
  );
  assert.doesNotMatch(stdout, /canary/);
});

test('reports a configuration with errors, a stale table and a broken store', async (t) => {
  const home = tempDir(t);
  mkdirSync(join(home, 'build'));
  writeFileSync(join(home, 'build/routes.json'), '{"hash": "old"}');
  writeFileSync(join(home, 'state.db'), 'not a database, but long enough to look like one'.repeat(100));
  const broken = await doctor(home, { config: 'platforms: { unknown: { enabled: true } }', env: SECRET });
  assert.deepEqual([broken.code, broken.of('configuration', 'compiles')?.fix], [1, 'hookwright lint']);
  assert.equal(broken.of('store', 'readable')?.status, 'failed');
  const stale = await doctor(home, { config: `platforms:\n  ${WEBHOOK}\n`, env: SECRET });
  assert.deepEqual(
    [stale.of('table', 'readable')?.status, stale.of('table', 'readable')?.fix],
    ['warning', 'hookwright compile'],
  );
  writeFileSync(join(home, 'build/routes.json'), '{"hash":');
  const torn = await doctor(home, { config: `platforms:\n  ${WEBHOOK}\n`, env: SECRET });
  assert.equal(torn.of('table', 'readable')?.status, 'failed');
});

test('reports a port in use', async (t) => {
  const home = tempDir(t);
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  const { of } = await doctor(home, {
    config: `platforms:\n  ${WEBHOOK.replace('port: 0', `port: ${port}`)}\n`,
    env: SECRET,
  });
  assert.match(of('server', 'port')?.detail ?? '', /EADDRINUSE/);
});

async function liveSetting(
  t: TestContext,
  answer: Answering,
): Promise<Setting & { readonly seen: () => readonly string[] }> {
  const server = await startFakeHttp(t, answer);
  const smtp = new SMTPServer({ closeTimeout: 50, authOptional: true, hideSTARTTLS: true, allowInsecureAuth: true });
  await new Promise<void>((resolve) => smtp.listen(0, '127.0.0.1', resolve));
  t.after(() => new Promise<void>((resolve) => smtp.close(() => resolve())));
  const { port } = smtp.server.address() as AddressInfo;
  const config = `
platforms:
  ${WEBHOOK}
  feishu: { enabled: true, app_id: cli_1, app_secret: env:LARK, api_base: "${server.url}" }
  email: { enabled: true, smtp_host: 127.0.0.1, smtp_port: ${port}, from: a@b.example }
`;
  return { config, env: { ...SECRET, LARK: 'canary-lark' }, seen: () => server.seen.map(({ url }) => url) };
}

test('--live contacts hosts, token exchanges, mail servers and clocks, and delivers nothing', async (t) => {
  const setting = await liveSetting(t, ({ path }) =>
    path === '/' ? { status: 404, body: '' } : { body: { code: 0, tenant_access_token: 't-canary', expire: 7200 } },
  );
  const { code, of, stdout } = await doctor(tempDir(t), setting, '--live');
  assert.equal(code, 0, stdout);
  assert.deepEqual(
    [of('feishu', 'host'), of('feishu', 'token'), of('email', 'mail server'), of('clock', 'skew')].map(
      (one) => one?.status,
    ),
    ['ok', 'ok', 'ok', 'ok'],
  );
  assert.deepEqual(setting.seen(), ['/', '/open-apis/auth/v3/tenant_access_token/internal']);
  assert.doesNotMatch(stdout, /canary/);
});

test('--live distinguishes rejected credentials from an unreachable host', async (t) => {
  const setting = await liveSetting(t, () => ({ body: { code: 10014, msg: 'canary-lark' } }));
  const home = tempDir(t);
  const refused = await doctor(home, setting, '--live');
  assert.equal(refused.code, 1);
  assert.match(refused.of('feishu', 'token')?.detail ?? '', /\bHTTP 200, code 10014\b/);
  const config = setting.config.replace(/api_base: "[^"]*"/, 'api_base: "http://127.0.0.1:1"');
  const gone = await doctor(home, { ...setting, config }, '--live');
  assert.match(gone.of('feishu', 'host')?.detail ?? '', /ECONNREFUSED/);
  assert.equal(gone.of('feishu', 'token'), undefined);
});

test('gh is called for its version and login, without --live only locally', async (t) => {
  const home = tempDir(t);
  mkdirSync(join(home, 'bin'));
  const gh = join(home, 'bin/gh');
  writeFileSync(
    gh,
    `#!/bin/sh\nprintf '%s ' "$@" >> ${home}/calls\ncase "$1" in --version) echo 'gh version 2.60.0';; *) echo canary-login;; esac\n`,
  );
  chmodSync(gh, 0o755);
  const route = 'routes: { a: { prompt: "{x}", deliver: github, deliver_extra: { repo: o/r, pr_number: "1" } } }';
  const config = `platforms:\n  ${WEBHOOK.replace('}', `, ${route} }`)}\n`;
  const offline = await doctor(home, { config, env: SECRET });
  assert.deepEqual(
    [offline.of('github_comment', 'gh')?.detail, offline.of('github_comment', 'login')?.status],
    ['gh version 2.60.0', 'ok'],
  );
  assert.doesNotMatch(offline.stdout, /canary/);
  await doctor(home, { config, env: SECRET }, '--live');
  const { readFileSync } = await import('node:fs');
  assert.equal(readFileSync(join(home, 'calls'), 'utf8'), '--version auth token --version api user --jq=.login ');
});

test('the clock is compared with the closest service', () => {
  assert.equal(checkClock([], false).status, 'skipped');
  assert.equal(checkClock([400, -90_000], true).status, 'ok');
  assert.equal(checkClock([-8000], true).status, 'warning');
  assert.match(checkClock([-90_000], true).detail, /\b90 s\b/);
  assert.equal(checkClock([-90_000], true).status, 'failed');
});

test('a missing program of an agent is a warning of its profile', async (t) => {
  const home = tempDir(t);
  mkdirSync(join(home, 'bin'));
  writeFileSync(join(home, 'bin', 'known'), '', { mode: 0o755 });
  const check = async (command: string) => {
    const { of, code } = await doctor(home, {
      config: `platforms: { ${WEBHOOK} }\nagent: { command: [${command}] }\n`,
      env: SECRET,
    });
    const found = of('agent', 'program');
    return [found?.status, found?.detail, code];
  };
  assert.deepEqual(await check('known'), ['ok', 'known', 0]);
  assert.equal((await check('unknown'))[0], 'warning');
  const path = join(home, 'agents/mine');
  assert.equal((await check('agents/mine'))[0], 'warning');
  mkdirSync(join(home, 'agents'));
  writeFileSync(path, '', { mode: 0o644 });
  assert.equal((await check('agents/mine'))[0], 'warning');
  chmodSync(path, 0o755);
  assert.deepEqual(await check('agents/mine'), ['ok', 'agents/mine', 0]);
});

test('--live reports a rejected bot token, and a service that does not answer about it', async (t) => {
  const answers: Record<string, Answering> = {
    taken: () => ({ body: { ok: true, result: { id: 1 } } }),
    refused: () => ({ status: 401, body: { ok: false, error_code: 401, description: 'Unauthorized 1:canary' } }),
    busy: () => ({ status: 503, body: {} }),
  };
  let answer: Answering = () => ({ body: {} });
  const server = await startFakeHttp(t, (request, index) =>
    request.path === '/' ? { status: 404, body: '' } : answer(request, index),
  );
  const config = `platforms:\n  ${WEBHOOK}\n  telegram: { enabled: true, token: env:TG, api_base: "${server.url}" }\n`;
  const env = { ...SECRET, TG: '1:canary' };
  const found: Record<string, unknown> = {};
  const home = tempDir(t);
  for (const [name, next] of Object.entries(answers)) {
    answer = next;
    const { code, of, stdout } = await doctor(home, { config, env }, '--live');
    const { status, detail } = of('telegram', 'account') ?? {};
    found[name] = [code, status];
    if (name === 'refused') assert.match(detail ?? '', /\b401\b/);
    assert.doesNotMatch(stdout, /1:canary/);
  }
  assert.deepEqual(found, {
    taken: [0, 'ok'],
    refused: [1, 'failed'],
    busy: [0, 'skipped'],
  });
  assert.deepEqual(
    [...new Set(server.seen.map(({ method, url }) => `${method} ${url}`))],
    ['GET /', 'GET /bot1:canary/getMe'],
  );
});

test('warns if all alerts depend on one target', async (t) => {
  const log = (deliver: string): string =>
    `gateway: { alerts: { deliver: ${deliver} } }\nplatforms:\n  telegram: { enabled: true, token: "1:canary", home_channel: "1" }\n  slack: { enabled: true, token: env:SL, home_channel: C1 }\n`;
  for (const [deliver, status] of [
    ['telegram', 'warning'],
    ['[telegram, slack]', 'ok'],
    ['log', undefined],
  ] as const) {
    const { of, code } = await doctor(tempDir(t), { config: log(deliver), env: { ...SECRET, SL: 'xoxb-canary' } });
    assert.equal(of('alerts', 'several targets')?.status, status, deliver);
    assert.equal(code, 0);
  }
});

test('a known program outside the range that its entry was tested with is a warning', async (t) => {
  const home = tempDir(t);
  mkdirSync(join(home, 'bin'));
  const check = async (printed: string) => {
    const program = join(home, 'bin', 'claude');
    writeFileSync(program, `#!/bin/sh\n[ "$1" = --version ] && echo '${printed}'\n`, { mode: 0o755 });
    const agent = 'agent: { use: claude-code, key: env:WEBHOOK_SECRET }';
    const { of } = await doctor(home, { config: `platforms: { ${WEBHOOK} }\n${agent}\n`, env: SECRET });
    return of('agent', 'version')?.status;
  };
  assert.equal(await check('2.1.197 (Claude Code)'), 'ok');
  assert.equal(await check('2.0.999 (Claude Code)'), 'warning');
  assert.equal(await check('3.0.0 (Claude Code)'), 'warning');
  assert.equal(await check('no version'), 'warning');
});
