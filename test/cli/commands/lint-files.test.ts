/** The files that `lint` and `compile` read and report. */
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

test('lint accepts files as arguments and reports which it read', async (t) => {
  const run = folder(t);
  const named = await run(['lint', 'other.yaml']);
  assert.equal(named.code, 1);
  assert.match(named.stdout, /other\.yaml:2:\d+: error unknown-key/);
  assert.match(named.stderr, /\bother\.yaml$/m);
  const usual = await run(['lint']);
  assert.deepEqual([usual.code, usual.stdout], [0, '']);
});

test('lint reports that the config of the home is ignored beside one of the folder', async (t) => {
  const home = tempDir(t);
  const cwd = tempDir(t);
  writeFileSync(join(home, 'config.yaml'), GOOD);
  writeFileSync(join(cwd, 'hookwright.yaml'), GOOD);
  const result = await runInProcess(['lint'], { home, cwd });
  assert.ok(result.stderr.includes(join(home, 'config.yaml')), result.stderr);
  assert.ok(!(await folder(t)(['lint'])).stderr.includes('config.yaml'));
});

test('with a format for programs, compile prints only diagnostics and returns the exit code', async (t) => {
  const run = folder(t);
  const json = await run(['compile', 'other.yaml', '--format', 'json']);
  assert.equal(json.code, 1);
  assert.equal(json.stdout, '');
  assert.equal((JSON.parse(json.stderr) as unknown[]).length, 1);
});
