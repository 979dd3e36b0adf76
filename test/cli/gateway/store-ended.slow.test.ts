/** A gateway ends if its store ends, and the next one resumes its work. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { runInProcess } from '../../helpers/cli.ts';
import { until } from '../../helpers/gateway.ts';
import { createSender, startGatewayProcess } from '../../helpers/gateway-process.ts';
import { tempDir } from '../../helpers/temp-dir.ts';

const SECRET = 'a-secret-for-the-process-tests';
const CONFIG = `platforms:
  webhook: { enabled: true, port: 0, secret: ${SECRET}, routes: { hello: { prompt: "{name}" } } }
agent: { command: [sh, -c, "test -e late && exec cat; touch late; sleep 60"], cwd: "." }
`;
/** Ends the threads of its process on request. */
const END_THREADS =
  "const threads = []; process.on('worker', (thread) => threads.push(thread)); " +
  "process.on('SIGUSR2', () => threads.map((thread) => thread.terminate()));";

test('a gateway ends with 70 when a thread of its store ends, and ends its agents', async (t) => {
  const home = tempDir(t);
  writeFileSync(join(home, 'config.yaml'), CONFIG, { mode: 0o600 });
  const env = { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(END_THREADS)}` };
  const first = await startGatewayProcess({ home, env });
  t.after(() => first.kill());
  const send = createSender(SECRET);
  assert.equal((await send(first.url, 'hello', 'one', { name: 'x' })).status, 202);
  await until(async () => existsSync(join(home, 'late')));
  const logged = first.output().length;
  const since = Date.now();
  const ended = once(first.child, 'exit');
  first.child.kill('SIGUSR2');
  assert.deepEqual(await ended, [70, null]);
  assert.ok(Date.now() - since < 3000, 'promptly: nothing waits for a store that cannot recover');
  assert.equal(first.output().slice(logged).trim().split('\n').length, 1);

  const next = await startGatewayProcess({ home });
  t.after(() => next.kill());
  await until(async () => {
    const { stdout } = await runInProcess(['deliveries', 'list', '--json'], { home });
    return (JSON.parse(stdout) as { state: string }[]).some(({ state }) => state === 'done');
  });
});
