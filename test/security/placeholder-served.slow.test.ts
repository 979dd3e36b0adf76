/**
 * Tests that a value that only the serving machine sees follows the same rule: a start or a swap with a placeholder is
 * rejected.
 */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { describe, test } from 'node:test';
import type { CliOptions, CliResult } from '../helpers/cli.ts';
import { runInProcess, startInProcess } from '../helpers/cli.ts';
import { startGateway, until } from '../helpers/gateway.ts';
import { sendAgain } from '../helpers/send-again.ts';
import { tempDir } from '../helpers/temp-dir.ts';

const REAL = 'kd83Hs0-qP2xVb71_tYw';
const webhook = (route: string, more = ''): string =>
  `platforms: { webhook: { enabled: true, routes: { hook: { prompt: x, ${route} } } }${more} }\n`;

/** Compiles without secrets, as CI does, then tries to serve the table on a machine with the secrets `given`. */
async function serveTable(
  t: TestContext,
  config: string,
  given: { readonly env?: Record<string, string>; readonly file?: string; readonly argv?: readonly string[] },
): Promise<CliResult> {
  const home = tempDir(t);
  writeFileSync(join(home, 'config.yaml'), config, { mode: 0o600 });
  const compiled = await runInProcess(['compile'], { home });
  assert.equal(compiled.code, 0, compiled.stderr);
  if (given.file !== undefined) writeFileSync(join(home, 'secret'), given.file, { mode: 0o600 });
  const argv = ['serve', '--table', 'build', '--port', '0', ...(given.argv ?? [])];
  return serveUntilRefused(argv, { home, ...(given.env === undefined ? {} : { env: given.env }) });
}

/** A gateway that starts is stopped, and exits with 0. */
async function serveUntilRefused(argv: readonly string[], options: CliOptions): Promise<CliResult> {
  const serving = startInProcess(argv, options);
  let ended = false;
  void serving.done.finally(() => {
    ended = true;
  });
  await until(async () => ended || /"url":/.test(serving.stderr()));
  serving.signal('SIGTERM');
  return serving.done;
}

const PLACES: Readonly<Record<string, readonly [config: (ref: string) => string, names: RegExp]>> = {
  "a route's secret": [(ref) => webhook(`secret: "${ref}"`), /route "hook"/],
  'a second secret': [(ref) => webhook(`secrets: [${REAL}, "${ref}"]`), /route "hook"/],
  'a verify token': [(ref) => webhook(`secret: ${REAL}, source: meta, verify_token: "${ref}"`), /route "hook"/],
  "a target's credential": [
    (ref) => webhook(`secret: ${REAL}`, `, telegram: { enabled: true, token: "${ref}" }`),
    /target telegram of profile default: token/,
  ],
  "the agent's key": [
    (ref) =>
      `${webhook(`secret: ${REAL}`)}agent: { openai: { base_url: "https://x.example", model: m, api_key: "${ref}" } }\n`,
    /agent: api_key: /,
  ],
  'a variable of the agent that is called like a secret': [
    (ref) => `${webhook(`secret: ${REAL}`)}agent: { command: [cat], env: { LLM_API_KEY: "${ref}" } }\n`,
    /agent: env\.LLM_API_KEY/,
  ],
};

describe('serve refuses a table', () => {
  for (const [name, [config, names]] of Object.entries(PLACES)) {
    test(`whose file for ${name} contains a placeholder`, async (t) => {
      const { code, stderr } = await serveTable(t, config('file:secret'), { file: 'changeme\n' });
      assert.equal(code, 1, stderr);
      assert.match(stderr, names);
      assert.match(stderr, /\bfile:secret\b/);
      assert.doesNotMatch(stderr, /changeme/);
    });
    test(`whose variable for ${name} is not expanded`, async (t) => {
      const { code, stderr } = await serveTable(t, config('env:OWN_VALUE'), { env: { OWN_VALUE: '\x24{ELSEWHERE}' } });
      assert.equal(code, 1, stderr);
      assert.match(stderr, names);
      assert.match(stderr, /\benv:OWN_VALUE\b/);
    });
  }

  test('with a literal that was inserted by hand', async (t) => {
    const home = tempDir(t);
    writeFileSync(join(home, 'config.yaml'), webhook(`secret: ${REAL}`), { mode: 0o600 });
    assert.equal((await runInProcess(['compile'], { home })).code, 0);
    const file = join(home, 'build/routes.json');
    const table = readFileSync(file, 'utf8')
      .replaceAll(REAL, 'changeme')
      .replace(/"hash": ?"[^"]*"/, '"hash":"x"');
    writeFileSync(file, table);
    const { code, stderr } = await serveUntilRefused(['serve', '--port', '0'], { home });
    assert.equal(code, 1, stderr);
  });

  test("with an example's value on a public address, whatever the table was compiled for", async (t) => {
    const given = { env: { HOOK: 'secret-for-this-example-only' }, argv: ['--host', '0.0.0.0'] };
    const { code, stderr } = await serveTable(t, webhook('secret: env:HOOK'), given);
    assert.equal(code, 1, stderr);
    assert.match(stderr, /route "hook": .*\benv:HOOK\b/);
  });
});

test('a swap to a placeholder and a subscription with one are rejected, and the old table stays', async (t) => {
  const home = tempDir(t);
  writeFileSync(join(home, 'secret'), `${REAL}\n`, { mode: 0o600 });
  writeFileSync(join(home, 'bad'), 'your-secret-here', { mode: 0o600 });
  const config = `${webhook('secret: file:secret')}agent: { command: [cat], env: { MODE: "env:MODE" } }\n`;
  // A variable without the name of a secret may contain any word.
  const gateway = await startGateway(t, { home, config, env: { MODE: 'test' } });
  writeFileSync(join(home, 'secret'), 'changeme', { mode: 0o600 });
  const { code, stderr } = await gateway.cli('gateway', 'reload');
  assert.equal(code, 1, stderr);
  const { table } = await gateway.status();
  assert.match(table.error ?? '', /route "hook": .*\bfile:secret\b/);

  const rejected = async () => {
    const { subscriptions } = await gateway.status();
    return subscriptions.quarantined[0];
  };
  writeFileSync(join(home, 'secret'), REAL, { mode: 0o600 });
  const list = JSON.stringify({ late: { prompt: 'x', secret: 'file:bad' } });
  writeFileSync(join(home, 'webhook_subscriptions.json'), list, { mode: 0o600 });
  const found = await until(async () => {
    await sendAgain(`${gateway.url}/webhooks/late`, { method: 'POST', body: '{}' });
    return rejected();
  });
  assert.equal(found.name, 'late');
  assert.match(found.reason, /\bfile:bad\b/);
});
