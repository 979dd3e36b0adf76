/** Which files `lint` and `compile` read: named as arguments, and said. */
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { test } from 'node:test';
import type { CliResult } from '../../helpers/cli.ts';
import { runInProcess } from '../../helpers/cli.ts';
import { tempDir } from '../../helpers/temp-dir.ts';

const GOOD = `platforms:
  webhook: { enabled: true, secret: env:WEBHOOK_SECRET, routes: { alerts: { prompt: "{title}" } } }
`;
const BAD = GOOD.replace('prompt', 'promt');

function folder(t: TestContext): (argv: string[]) => Promise<CliResult> {
  const home = tempDir(t);
  const cwd = join(home, 'project');
  mkdirSync(cwd);
  writeFileSync(join(cwd, 'hookwright.yaml'), GOOD);
  writeFileSync(join(cwd, 'other.yaml'), BAD);
  return (argv) => runInProcess(argv, { home, cwd });
}

test('lint takes files as arguments, and says which it read', async (t) => {
  const run = folder(t);
  const named = await run(['lint', 'other.yaml']);
  assert.equal(named.code, 1);
  assert.match(named.stdout, /other\.yaml:2:\d+: error unknown-key/);
  assert.match(named.stderr, /\bother\.yaml$/m);
  const usual = await run(['lint']);
  assert.deepEqual([usual.code, usual.stdout], [0, '']);
});

test('a config of the home beside one of the folder is said not to be read', async (t) => {
  const home = tempDir(t);
  const cwd = tempDir(t);
  writeFileSync(join(home, 'config.yaml'), GOOD);
  writeFileSync(join(cwd, 'hookwright.yaml'), GOOD);
  const result = await runInProcess(['lint'], { home, cwd });
  assert.ok(result.stderr.includes(join(home, 'config.yaml')), result.stderr);
  assert.ok(!(await folder(t)(['lint'])).stderr.includes('config.yaml'));
});

test('with a machine format nothing but diagnostics is on the stream of compile, and the exit code says the rest', async (t) => {
  const run = folder(t);
  const json = await run(['compile', 'other.yaml', '--format', 'json']);
  assert.equal(json.code, 1);
  assert.equal(json.stdout, '');
  assert.equal((JSON.parse(json.stderr) as unknown[]).length, 1);
});
