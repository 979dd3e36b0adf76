/** A start with a configuration that cannot be served: the table that was served last is in service, and it is reported everywhere. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { test } from 'node:test';
import { runInProcess, startInProcess } from '../../helpers/cli.ts';
import type { TestGateway } from '../../helpers/gateway.ts';
import { startGateway, until } from '../../helpers/gateway.ts';
import { tempDir } from '../../helpers/temp-dir.ts';

const GOOD = `platforms:
  webhook:
    enabled: true
    secret: a-literal-secret-for-tests
    routes:
      hello: { events: [greeting], prompt: "Hello {name}" }
gateway: { alerts: { deliver: local } }
`;
const BROKEN = GOOD.replace('prompt', 'promt');
const NO_SECRET = GOOD.replace('a-literal-secret-for-tests', 'env:NOT_SET').replace('hello', 'other');

/** A home in which a gateway has served `GOOD` and was stopped. */
async function servedBefore(t: TestContext): Promise<string> {
  const home = tempDir(t);
  const gateway = await startGateway(t, { home, config: GOOD });
  await gateway.stop();
  assert.equal(copiesIn(home).length, 1);
  return home;
}

function copiesIn(home: string): readonly string[] {
  try {
    return readdirSync(join(home, 'served')).filter((name) => name.endsWith('.json'));
  } catch {
    return [];
  }
}

/** 401 for a route in service, else 404. */
const postTo = async ({ url }: Pick<TestGateway, 'url'>, route: string): Promise<number> =>
  (await fetch(`${url}/webhooks/${route}`, { method: 'POST', body: '{}' })).status;

const alertsOf = async ({ status }: Pick<TestGateway, 'status'>): Promise<readonly string[]> =>
  (await status()).alerts.map(({ kind, reason }) => `${kind}: ${reason}`);

test('a start with errors serves the last table; log, status and an alert say where the error is', async (t) => {
  const home = await servedBefore(t);
  const gateway = await startGateway(t, { home, config: BROKEN });
  const { table } = await gateway.status();
  assert.equal(table.routes, 1);
  assert.match(table.error ?? '', /config\.yaml:6:\d+: .*promt/);
  assert.match(gateway.running.stderr(), /config\.yaml:6:\d+/);
  await until(async () => (await alertsOf(gateway)).some((text) => /^config_rejected: .*config\.yaml:6:/.test(text)));
  // A corrected file is served without a restart.
  writeFileSync(join(home, 'config.yaml'), GOOD.replace('hello', 'second'), { mode: 0o600 });
  await until(async () => (await gateway.status()).table.error === null);
  assert.equal(await postTo(gateway, 'second'), 401);
});

test('an empty file is not served: a program may have emptied it first', async (t) => {
  const home = tempDir(t);
  const gateway = await startGateway(t, { home, config: GOOD });
  writeFileSync(join(home, 'config.yaml'), '', { mode: 0o600 });
  await until(async () => (await gateway.status()).table.error !== null);
  assert.match((await gateway.status()).table.error ?? '', /empty/);
  assert.equal(await postTo(gateway, 'hello'), 401);
});

test('a table that never listened is not kept', async (t) => {
  const home = await servedBefore(t);
  const other = await startGateway(t, { home: tempDir(t), config: GOOD });
  const { port } = new URL(other.url);
  writeFileSync(join(home, 'config.yaml'), GOOD.replace('hello', 'second'), { mode: 0o600 });
  const { code } = await runInProcess(['gateway', 'run', '--port', port], { home });
  assert.equal(code, 1);
  for (const name of copiesIn(home)) assert.match(readFileSync(join(home, 'served', name), 'utf8'), /"hello"/);
});

test('a start without a secret serves the last table until the secret exists', async (t) => {
  const home = await servedBefore(t);
  const gateway = await startGateway(t, { home, config: NO_SECRET });
  const { error, routes } = (await gateway.status()).table;
  assert.match(error ?? '', /NOT_SET/);
  assert.equal(routes, 1);
  assert.deepEqual([await postTo(gateway, 'hello'), await postTo(gateway, 'other')], [401, 404]);
  await until(async () => (await alertsOf(gateway)).some((text) => text.includes('NOT_SET')));
  writeFileSync(join(home, '.env'), 'NOT_SET=kd83Hs0-qP2xVb71_tYw\n', { mode: 0o600 });
  await until(async () => (await gateway.status()).table.error === null);
  assert.deepEqual([await postTo(gateway, 'hello'), await postTo(gateway, 'other')], [404, 401]);
});

test('a start without its file serves the last table', async (t) => {
  const home = await servedBefore(t);
  rmSync(join(home, 'config.yaml'));
  const running = startInProcess(['gateway', 'run', '--port', '0'], { home });
  t.after(async () => {
    running.signal('SIGTERM');
    await running.done;
  });
  const cli = (...argv: string[]) => runInProcess(argv, { home });
  await until(async () => (await cli('gateway', 'status')).code === 0);
  const { stdout } = await cli('gateway', 'status', '--json');
  assert.equal(JSON.parse(stdout).table.routes, 1);
});

test('the copy of a table is the one that was served, not one that was only compiled', async (t) => {
  const home = await servedBefore(t);
  writeFileSync(join(home, 'config.yaml'), NO_SECRET, { mode: 0o600 });
  assert.equal((await runInProcess(['compile'], { home })).code, 0);
  const gateway = await startGateway(t, { home, config: BROKEN });
  for (let times = 0; times < 3; times++) assert.equal(await postTo(gateway, 'hello'), 401);
  assert.match((await gateway.status()).table.error ?? '', /promt/);
});

test('a reload in service replaces the copy, which only the owner can read', async (t) => {
  const home = tempDir(t);
  const gateway = await startGateway(t, { home, config: GOOD });
  const copy = await until(async () => copiesIn(home)[0]);
  const path = join(home, 'served', copy);
  assert.equal(statSync(path).mode & 0o777, 0o600);
  writeFileSync(join(home, 'config.yaml'), GOOD.replace('hello', 'second'), { mode: 0o600 });
  await until(async () => readFileSync(path, 'utf8').includes('"second"'));
  writeFileSync(join(home, 'config.yaml'), BROKEN, { mode: 0o600 });
  await until(async () => (await gateway.status()).table.error !== null);
  assert.ok(readFileSync(path, 'utf8').includes('"second"'));
});

const refusals: readonly (readonly [string, (home: string) => void, string, readonly string[]])[] = [
  ['--no-last-good', () => {}, BROKEN, ['--no-last-good']],
  ['--no-last-good and a missing secret', () => {}, NO_SECRET, ['--no-last-good']],
  ['another configuration than the one served', () => {}, BROKEN, ['--config', 'other.yaml']],
  ['no copy', (home) => rmSync(join(home, 'served'), { recursive: true }), BROKEN, []],
  ['a damaged copy', (home) => damage(home, (text) => text.replace('greeting', 'anything')), BROKEN, []],
  [
    'a copy of another version',
    (home) => damage(home, (text) => text.replace(/"format":\d+/, '"format":1')),
    BROKEN,
    [],
  ],
];

function damage(home: string, change: (text: string) => string): void {
  for (const name of copiesIn(home)) {
    const path = join(home, 'served', name);
    writeFileSync(path, change(readFileSync(path, 'utf8')));
  }
}

for (const [name, prepare, config, argv] of refusals) {
  test(`a broken configuration is refused with ${name}`, async (t) => {
    const home = await servedBefore(t);
    prepare(home);
    for (const file of ['config.yaml', 'other.yaml']) writeFileSync(join(home, file), config, { mode: 0o600 });
    const options = { home, cwd: home };
    const { code, stderr } = await runInProcess(['gateway', 'run', '--port', '0', ...argv], options);
    assert.equal(code, 1);
    assert.match(stderr, /promt|NOT_SET/);
  });
}
