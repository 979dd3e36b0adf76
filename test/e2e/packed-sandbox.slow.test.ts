/**
 * The packed package beside `@anthropic-ai/sandbox-runtime`, as installed by `npm install`: a run cannot see the homes and can only
 * write its outputs, and `sandbox try` shows the same.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { atEnd } from '../helpers/at-end.ts';
import { until } from '../helpers/gateway.ts';
import { createSender, startGatewayProcess } from '../helpers/gateway-process.ts';
import { installPacked } from '../helpers/packed.ts';
import { tempDir } from '../helpers/temp-dir.ts';
import { noSandbox } from '../modules/sandbox/run-sandboxed.ts';

const SECRET = 'the-secret-of-a-route-1';
const CANARY = 'canary-of-the-home-5f0c';

/** An agent that prints what it can read of `places`, tries to write beside each, and returns one output. */
const scriptOf = (places: readonly string[]): string =>
  [
    ...places.map(
      (place) => `echo "$(ls -A ${place} 2>&1) $(cat ${place}/* ${place}/.env 2>&1)"; echo x >${place}/left`,
    ),
    'echo x >$(dirname $HOOKWRIGHT_OUTPUTS_FILE)/../beside; echo x >/etc/left; echo x >/var/tmp/left',
    `echo '{"output":"note","text":"handed over"}' >$HOOKWRIGHT_OUTPUTS_FILE && echo WROTE`,
    'curl -sS -m 240 https://example.com 2>&1; exit 0',
  ].join('\n');

test('a packed gateway keeps a run in its sandbox, and so does `sandbox try`', { skip: noSandbox }, async (t) => {
  const folder = tempDir(t);
  const program = [process.execPath, await installPacked(folder, ['@anthropic-ai/sandbox-runtime'])];
  const [home, user] = [join(folder, 'home'), join(folder, 'user')];
  for (const place of [home, user]) {
    mkdirSync(place, { mode: 0o700 });
    writeFileSync(join(place, 'kept'), CANARY);
  }
  writeFileSync(join(home, '.env'), `WEBHOOK_SECRET=${SECRET}\nOTHER=${CANARY}\n`, { mode: 0o600 });
  const config = `
platforms:
  webhook:
    enabled: true
    secret: env:WEBHOOK_SECRET
    routes:
      look: { prompt: "{x}", deliver: local, outputs: { note: { deliver: local } } }
agent:
  command: [sh, -c, ${JSON.stringify(scriptOf([home, user, folder]))}]
  sandbox: { network: none }
`;
  writeFileSync(join(home, 'config.yaml'), config, { mode: 0o600 });
  const env = { HOME: user, TMPDIR: folder };
  const hookwright = (...argv: string[]) =>
    spawnSync(program[0] ?? '', [...program.slice(1), ...argv], {
      ...{ cwd: home, encoding: 'utf8', timeout: 300_000 },
      env: { PATH: process.env.PATH, HOOKWRIGHT_HOME: home, ...env },
    });

  const gateway = await startGatewayProcess({ home, program, env });
  atEnd(t, () => gateway.kill());
  assert.equal((await createSender(SECRET)(gateway.url, 'look', 'one', { x: 1 })).status, 202);
  const [entry] = await until(async () => {
    const entries = JSON.parse(hookwright('deliveries', 'list', '--json').stdout) as { id: string; state: string }[];
    return entries[0]?.state === 'done' && entries;
  });
  const shown = hookwright('deliveries', 'show', entry?.id ?? '').stdout;
  assert.match(shown, /^denied +.*example\.com:443/m);
  assert.doesNotMatch(shown, /dropped/);
  const said = hookwright('deliveries', 'show', entry?.id ?? '', '--json').stdout;
  assert.match(said, /WROTE/);
  assert.match(said, /handed over/);
  assert.doesNotMatch(said, new RegExp(`${CANARY}|${SECRET}`));
  assert.doesNotMatch(gateway.output(), new RegExp(`${CANARY}|${SECRET}`));

  const tried = hookwright('sandbox', 'try', '--', 'sh', '-c', scriptOf([home, user, folder]));
  assert.equal(tried.status, 0, tried.stderr);
  assert.match(tried.stderr, /denied: .*example\.com:443/, tried.stdout);
  assert.doesNotMatch(tried.stdout, new RegExp(`${CANARY}|${SECRET}`));
  for (const place of [home, user, folder]) assert.ok(!readdirSync(place).includes('left'), place);
  await gateway.kill();
});
