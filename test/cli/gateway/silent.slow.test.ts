/** Commands with a gateway that runs but does not answer. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { runInProcess } from '../../helpers/cli.ts';
import { startGatewayProcess } from '../../helpers/gateway-process.ts';
import { tempDir } from '../../helpers/temp-dir.ts';

const CONFIG = `platforms:
  webhook:
    enabled: true
    port: 0
    secret: a-secret-of-a-silent-gateway
    routes:
      hello: { prompt: "Hello {name}" }
`;

const COMMANDS: readonly (readonly string[])[] = [
  ['gateway', 'status'],
  ['gateway', 'start'],
  ['gateway', 'stop'],
  ['deliveries', 'list'],
  ['job', 'list'],
  ['job', 'create', 'look', '--schedule', '0 8 * * *', '--prompt', 'Look around.'],
  ['requests', 'list'],
  ['doctor'],
];

test('every command soon prints how to end a gateway that does not answer', async (t) => {
  const home = tempDir(t);
  writeFileSync(join(home, 'config.yaml'), CONFIG, { mode: 0o600 });
  const gateway = await startGatewayProcess({ home });
  t.after(gateway.kill);
  gateway.child.kill('SIGSTOP');
  const { pid } = gateway.child;
  await Promise.all(
    COMMANDS.map(async (argv) => {
      const { code, stdout, stderr } = await runInProcess(argv, { home });
      const said = stdout + stderr;
      assert.equal(code, 1, said);
      assert.match(said, new RegExp(`kill -9 ${pid}`), argv.join(' '));
    }),
  );
});
