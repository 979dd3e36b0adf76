import assert from 'node:assert/strict';
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { runInProcess } from '../../helpers/cli.ts';
import { startGateway, until } from '../../helpers/gateway.ts';
import { tempDir } from '../../helpers/temp-dir.ts';

const CONFIG = `platforms:
  webhook:
    enabled: true
    secret: a-literal-secret-for-tests
    routes:
      hello:
        events: [greeting]
        prompt: "Hello {name}"
`;

test('gateway run compiles, serves and answers a signed test event; stop drains it', async (t) => {
  const gateway = await startGateway(t, { home: tempDir(t), config: CONFIG });
  const sent = await gateway.cli('webhook', 'test', 'hello', '--payload', '{"name":"Ada"}');
  assert.equal(sent.code, 0, sent.stderr);
  assert.match(sent.stdout, /^202 \{"status":"accepted","route":"hello","event":"greeting"/);
  await until(async () => gateway.running.stderr().includes('Hello Ada'));
  const { stdout } = await gateway.cli('gateway', 'status');
  assert.ok(stdout.includes(`${gateway.url} (pid ${process.pid}`), stdout);
  const { state, table } = await gateway.status();
  assert.deepEqual([state, table.routes], ['serving', 1]);
  const { code, stdout: printed } = await gateway.cli('gateway', 'stop');
  assert.deepEqual([code, printed], [0, '']);
  assert.equal((await gateway.running.done).code, 0);
  assert.equal(existsSync(join(gateway.home, 'run', 'control.sock')), false);
});

test('only the owner can read the table of a config with literal secrets', async (t) => {
  const home = tempDir(t);
  writeFileSync(join(home, 'config.yaml'), CONFIG, { mode: 0o600 });
  assert.equal((await runInProcess(['compile'], { home })).code, 0);
  assert.equal(statSync(join(home, 'build', 'routes.json')).mode & 0o777, 0o600);
  writeFileSync(join(home, 'config.yaml'), CONFIG.replace('a-literal-secret-for-tests', 'env:SECRET'));
  assert.equal((await runInProcess(['compile'], { home })).code, 0);
  assert.equal(statSync(join(home, 'build', 'routes.json')).mode & 0o777, 0o644);
});

const refusals: readonly (readonly [string, string, readonly string[], RegExp])[] = [
  [
    'a missing secret, by route and reference',
    CONFIG.replace('a-literal-secret-for-tests', 'env:NOT_SET'),
    [],
    /^error: .*hello.*env:NOT_SET/m,
  ],
  [
    'all secrets that are missing, in one round',
    `${CONFIG.replace('a-literal-secret-for-tests', 'env:NOT_SET')}  telegram: { enabled: true, token: env:NO_TOKEN }
agent: { command: [cat], env: { KEY: env:NO_KEY } }
gateway: { console: { port: 0, token: env:NO_CONSOLE } }
`,
    [],
    /env:NOT_SET.*\n.*telegram.*token: env:NO_TOKEN.*\n.*env\.KEY: env:NO_KEY.*\n.*gateway\.console\.token: env:NO_CONSOLE/,
  ],
  ['webhooks that are switched off', CONFIG.replace('enabled: true', 'enabled: false'), [], /^error: /m],
  [
    'validation switched off on an address others can reach',
    CONFIG.replace('a-literal-secret-for-tests', 'INSECURE_NO_AUTH'),
    ['--host', '0.0.0.0'],
    /insecure-bind: .*hello/,
  ],
  ['an address that is none', CONFIG, ['--host', 'not-an-address.invalid'], /not-an-address\.invalid/],
];
for (const [name, config, argv, expected] of refusals) {
  test(`a start fails for ${name}`, async (t) => {
    const home = tempDir(t);
    writeFileSync(join(home, 'config.yaml'), config, { mode: 0o600 });
    const result = await runInProcess(['gateway', 'run', '--port', '0', ...argv], { home });
    assert.equal(result.code, 1, result.stderr);
    assert.match(result.stderr, expected);
    assert.doesNotMatch(result.stderr, /\n {4}at /);
    // The home is unlocked again.
    assert.match((await runInProcess(['gateway', 'status', '--json'], { home })).stdout, /"stopped"/);
  });
}

test('a start fails for a port in use and names it', async (t) => {
  const home = tempDir(t);
  writeFileSync(join(home, 'config.yaml'), CONFIG, { mode: 0o600 });
  const other = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => other.once('listening', resolve));
  t.after(() => other.close());
  const { port } = other.address() as { port: number };
  const result = await runInProcess(['gateway', 'run', '--port', String(port)], { home });
  assert.equal(result.code, 1);
  assert.match(result.stderr, new RegExp(`127\\.0\\.0\\.1:${port}\\b`));
});

test('serve rejects a folder without tables and names the command to run', async (t) => {
  const result = await runInProcess(['serve'], { home: tempDir(t) });
  assert.equal(result.code, 1);
  assert.match(result.stderr, /hookwright compile/);
});

test('compile and lint print the same diagnostics; compile writes nothing when there are errors', async (t) => {
  const home = tempDir(t);
  writeFileSync(join(home, 'config.yaml'), CONFIG.replace('prompt:', 'promt:'), { mode: 0o600 });
  const compiled = await runInProcess(['compile'], { home });
  const linted = await runInProcess(['lint'], { home });
  assert.equal(compiled.code, 1);
  assert.equal(linted.code, 1);
  assert.match(linted.stdout, /^config\.yaml:\d+:\d+: .*unknown-key/m);
  assert.ok(compiled.stderr.startsWith(linted.stdout));
  assert.equal(existsSync(join(home, 'build')), false);
  const json = await runInProcess(['lint', '--format', 'json'], { home });
  assert.equal((JSON.parse(json.stdout) as { rule: string }[])[0]?.rule, 'unknown-key');
  assert.match(
    (await runInProcess(['lint', '--format', 'github'], { home })).stdout,
    /^::error file=config\.yaml,line=/m,
  );
  assert.equal((await runInProcess(['lint', '--format', 'x'], { home })).code, 2);
});

test('the same input compiles to the same bytes, and an unchanged file is not rewritten', async (t) => {
  const home = tempDir(t);
  writeFileSync(join(home, 'config.yaml'), CONFIG, { mode: 0o600 });
  const first = await runInProcess(['compile'], { home });
  const path = join(home, 'build', 'routes.json');
  assert.deepEqual(first.stdout.trim().split('\n'), ['build/routes.json', 'build/blueprints.json']);
  const before = [readFileSync(path, 'utf8'), statSync(path).mtimeMs];
  await runInProcess(['compile'], { home });
  assert.deepEqual([readFileSync(path, 'utf8'), statSync(path).mtimeMs], before);
  await runInProcess(['compile', '--out', 'elsewhere'], { home });
  assert.equal(readFileSync(join(home, 'elsewhere', 'routes.json'), 'utf8'), before[0]);
});
