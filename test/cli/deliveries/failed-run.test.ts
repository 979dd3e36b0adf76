/** Why a run failed is found where an operator looks: in its reason, in `deliveries show`, and in the message of `on_failure`. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { startGateway, until } from '../../helpers/gateway.ts';
import { tempDir } from '../../helpers/temp-dir.ts';

const CONFIG = `platforms:
  webhook:
    enabled: true
    secret: env:WEBHOOK_SECRET
    routes:
      deploy: { prompt: x, deliver: log, on_failure: { deliver: log } }
agent:
  command: [sh, deploy.sh]
  cwd: .
  confined: A test.
  env: { STAGE: production, KEY: env:AGENT_KEY }
`;
const SCRIPT = 'echo "not deployed to $STAGE with $KEY"\nexit 1\n';

test('a program that reports its error on stdout says why it failed, with the literals of its environment', async (t) => {
  const home = tempDir(t);
  writeFileSync(join(home, 'deploy.sh'), SCRIPT);
  const env = { WEBHOOK_SECRET: 'kd83Hs0-qP2xVb71_tYw', AGENT_KEY: 'a-key-of-the-agent' };
  const gateway = await startGateway(t, { home, config: CONFIG, env });
  await gateway.cli('webhook', 'test', 'deploy');
  const id = await until(async () => {
    const { stdout } = await gateway.cli('deliveries', 'list', '--state', 'dead', '--json');
    return (JSON.parse(stdout) as readonly { id: string }[])[0]?.id;
  });
  const shown = JSON.parse((await gateway.cli('deliveries', 'show', id, '--json')).stdout) as Record<string, unknown>;
  const printed = 'not deployed to production with ***';
  assert.equal(shown.stdout, printed);
  assert.equal(shown.stderr, '');
  assert.equal(shown.reason, `run failed: sh exited with 1: ${printed}`);
  assert.ok((await gateway.cli('deliveries', 'show', id)).stdout.includes(`\nstdout:\n${printed}\n`));
  // The log has the failure and, since `on_failure` sends there, its message.
  await until(async () => gateway.running.stderr().split(printed).length > 2);
  assert.ok(!gateway.running.stderr().includes('a-key-of-the-agent'));
});
