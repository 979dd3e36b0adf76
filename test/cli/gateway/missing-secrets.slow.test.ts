/** A start names all missing secrets at once, so that one round of setting them is enough. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { runInProcess } from '../../helpers/cli.ts';
import { startGateway, until } from '../../helpers/gateway.ts';
import { tempDir } from '../../helpers/temp-dir.ts';

const REAL = 'kd83Hs0-qP2xVb71_tYw';
const CONFIG = `platforms:
  webhook:
    enabled: true
    routes:
      page: { prompt: x, source: meta, secret: env:PAGE_SECRET, verify_token: file:page-token }
      pulls: { prompt: x, secrets: [env:PULLS_NEW, file:pulls-old] }
  telegram: { enabled: true, token: env:TELEGRAM_TOKEN, api_base: env:TELEGRAM_BASE }
  slack: { enabled: true, token: file:slack-token }
agent: { openai: { base_url: "https://x.example", model: m, api_key: env:MODEL_KEY } }
gateway: { console: { port: 0, token: env:CONSOLE_TOKEN } }
`;

/** Checks that the line with a reference also names its owner. */
const MISSING: readonly (readonly [owner: string, ref: string])[] = [
  ['page', 'env:PAGE_SECRET'],
  ['page', 'file:page-token'],
  ['pulls', 'env:PULLS_NEW'],
  ['pulls', 'file:pulls-old'],
  ['telegram', 'token: env:TELEGRAM_TOKEN'],
  ['telegram', 'api_base: env:TELEGRAM_BASE'],
  ['slack', 'token: file:slack-token'],
  ['api_key', 'env:MODEL_KEY'],
  ['gateway.console.token', 'env:CONSOLE_TOKEN'],
];

function assertNamed(text: string): void {
  const lines = text.split('\n');
  for (const [owner, ref] of MISSING) {
    assert.ok(
      lines.some((line) => line.includes(owner) && line.includes(ref)),
      `${owner}, ${ref}:\n${text}`,
    );
  }
}

test('gateway run and serve name every missing secret in one error', async (t) => {
  const home = tempDir(t);
  writeFileSync(join(home, 'config.yaml'), CONFIG, { mode: 0o600 });
  const run = await runInProcess(['gateway', 'run', '--port', '0'], { home });
  assert.equal(run.code, 1);
  assertNamed(run.stderr);
  assert.equal((await runInProcess(['compile'], { home })).code, 0);
  const serve = await runInProcess(['serve', '--table', 'build', '--port', '0'], { home });
  assert.equal(serve.code, 1);
  assertNamed(serve.stderr);
});

test('a reload with missing secrets names all of them and keeps the table in service', async (t) => {
  const config = `platforms: { webhook: { enabled: true, routes: { old: { prompt: x, secret: ${REAL} } } } }\n`;
  const gateway = await startGateway(t, { home: tempDir(t), config });
  writeFileSync(join(gateway.home, 'config.yaml'), CONFIG, { mode: 0o600 });
  const table = async (): Promise<{ error: string | null; routes: number }> => {
    const { stdout } = await gateway.cli('gateway', 'status', '--json');
    return (JSON.parse(stdout) as { table: { error: string | null; routes: number } }).table;
  };
  await until(async () => (await table()).error !== null);
  const { error, routes } = await table();
  assertNamed(String(error));
  assert.equal(routes, 1);
});

test('doctor names every missing secret', async (t) => {
  const home = tempDir(t);
  writeFileSync(join(home, 'config.yaml'), CONFIG, { mode: 0o600 });
  const { stdout } = await runInProcess(['doctor', '--json'], { home });
  for (const [, ref] of MISSING) assert.ok(stdout.includes(ref), `${ref}:\n${stdout}`);
});
