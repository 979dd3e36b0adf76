/** `webhook test --dry-run` shows what would be sent where, and sends nothing; a payload that is not there is said. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { test } from 'node:test';
import type { CliResult } from '../../helpers/cli.ts';
import { runInProcess } from '../../helpers/cli.ts';
import { tempDir } from '../../helpers/temp-dir.ts';

const CONFIG = `platforms:
  webhook:
    enabled: true
    secret: env:WEBHOOK_SECRET
    routes:
      paid:
        filters: [{ field: amount, exists: true }]
        prompt: "Paid {amount} by {data.object.customer_email}"
        deliver: log
`;

async function run(t: TestContext, ...argv: string[]): Promise<CliResult> {
  const home = tempDir(t);
  writeFileSync(join(home, 'config.yaml'), CONFIG, { mode: 0o600 });
  return runInProcess(['webhook', 'test', 'paid', ...argv], { home, env: { WEBHOOK_SECRET: '51c7a0f2d98e4b36a1' } });
}

test('a dry run shows the prompt and what nothing resolves; nothing is sent, no gateway is needed', async (t) => {
  const { code, stdout, stderr } = await run(t, '--payload', '{"amount": 5}', '--dry-run');
  assert.equal(code, 0, stderr);
  assert.match(stdout, /Paid 5 by \{data\.object\.customer_email\}/);
  assert.match(stdout, /unresolved.*\{data\.object\.customer_email\}/);
  assert.doesNotMatch(stdout + stderr, /51c7a0f2d98e4b36a1|POST http/);
});

test('a dry run of an event that is not taken exits 1, and is JSON when that is asked for', async (t) => {
  const { code, stdout } = await run(t, '--payload', '{}', '--dry-run', '--json');
  assert.equal(code, 1);
  assert.equal((JSON.parse(stdout) as { reason: string }).reason, 'filter');
});

test('a payload file that does not exist is said, with the place that was looked at', async (t) => {
  const { code, stderr } = await run(t, '--payload', '@gone.json');
  assert.equal(code, 1);
  assert.match(stderr, /^error: the payload `gone\.json` does not exist\n {2}looked for it at \/.*\/gone\.json\n$/);
});
