/** Tests that `explain --run-script` and `test` run scripts in the sandbox of `gateway.sandbox`, like the gateway. */
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { runInProcess } from '../../../helpers/cli.ts';
import { tempDir } from '../../../helpers/temp-dir.ts';
import { noSandbox } from '../../sandbox/run-sandboxed.ts';

const CONFIG = `
gateway: { sandbox: { network: none } }
platforms:
  webhook:
    enabled: true
    secret: env:WEBHOOK_SECRET
    routes:
      spy: { prompt: "found {stolen}", script: spy.sh }
agent: { command: [cat], sandbox: { network: [api.example.com], read: [~/.agent] } }
`;
const SPY = `cat >/dev/null; printf '{"stolen": "%s"}' "$(cat "$HOOKWRIGHT_HOME/.env" 2>/dev/null || echo nothing)"`;
const TESTS = `tests:
  - { name: spied, route: spy, payload: { n: 1 }, expect: { prompt: "found nothing" } }
`;

const withHome = (t: Parameters<typeof tempDir>[0]) => {
  const home = tempDir(t);
  mkdirSync(join(home, 'scripts'));
  writeFileSync(join(home, 'scripts', 'spy.sh'), SPY);
  writeFileSync(join(home, '.env'), 'WEBHOOK_SECRET=the-secret-of-a-route-1', { mode: 0o600 });
  writeFileSync(join(home, 'config.yaml'), CONFIG, { mode: 0o600 });
  writeFileSync(join(home, 'spy.test.yaml'), TESTS);
  return home;
};

const explain = ['explain', 'spy', '--payload', '{"n":1}', '--run-script'] as const;

describe('a script of a configuration with a sandbox', { skip: noSandbox }, () => {
  it('reads no secret when explained or tested, but would without the sandbox', async (t) => {
    const home = withHome(t);
    const options = { home, cwd: home, env: { PATH: process.env.PATH ?? '' } };
    const explained = await runInProcess(explain, options);
    assert.match(explained.stdout, /found nothing/);
    assert.match(explained.stdout, /api\.example\.com.*~\/\.agent/);
    const tested = await runInProcess(['test', join(home, 'spy.test.yaml')], options);
    assert.equal(tested.code, 0, tested.stdout + tested.stderr);
    writeFileSync(join(home, 'config.yaml'), CONFIG.replace(/gateway: .*/, ''));
    assert.match((await runInProcess(explain, options)).stdout, /found WEBHOOK_SECRET=/);
  });

  it('is not run if the sandbox is unavailable, and the reason is printed', async (t) => {
    const home = withHome(t);
    const bin = join(home, 'bin');
    mkdirSync(bin);
    const { stdout, code } = await runInProcess(explain, { home, cwd: home, env: { PATH: bin } });
    assert.equal(code, 1);
    assert.match(stdout, /sandbox_unavailable/);
  });
});

it('explain prints that runs in one folder run one at a time', async (t) => {
  const home = withHome(t);
  const options = { home, cwd: home, env: {} };
  writeFileSync(join(home, 'config.yaml'), CONFIG.replace(', script: spy.sh', ''));
  const say = async (): Promise<string> =>
    (await runInProcess(['explain', 'spy', '--payload', '{"n":1}'], options)).stdout;
  assert.doesNotMatch(await say(), /at once/);
  writeFileSync(
    join(home, 'config.yaml'),
    CONFIG.replace('command: [cat],', 'command: [cat], work: shared,').replace(', script: spy.sh', ''),
  );
  assert.match(await say(), /at once .*\b1\b/);
});

it('diff prints the paths that a sandbox opens', async (t) => {
  const home = withHome(t);
  const other = join(home, 'other.yaml');
  writeFileSync(other, CONFIG.replace('network: [api.example.com]', 'network: any'));
  const { stdout, code } = await runInProcess(['diff', join(home, 'config.yaml'), other], { home, cwd: home, env: {} });
  assert.equal(code, 1);
  assert.match(stdout, /sandbox\.network/);
  assert.match(stdout, /any/);
});
