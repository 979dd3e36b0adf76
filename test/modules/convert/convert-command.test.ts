/** The conversion commands: written files, rejected input and JSON output. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Ending } from '../../helpers/at-end.ts';
import type { CliResult } from '../../helpers/cli.ts';
import { runInProcess } from '../../helpers/cli.ts';
import { tempDir } from '../../helpers/temp-dir.ts';

const HOOK = `- id: site
  execute-command: /srv/site.sh
  success-http-response-code: 404
  trigger-rule: { match: { type: value, value: site-token-31, parameter: { source: header, name: X-Token } } }
`;

interface Folder {
  readonly run: (...argv: readonly string[]) => Promise<CliResult>;
  readonly path: (name: string) => string;
}

function folderWith(t: Ending, text: string): Folder {
  const [home, cwd] = [tempDir(t), tempDir(t)];
  writeFileSync(join(cwd, 'hooks.yaml'), text);
  return { run: (...argv) => runInProcess(['convert', ...argv], { home, cwd }), path: (name) => join(cwd, name) };
}

test('in a pipe, prints the config and writes nothing', async (t) => {
  const { run, path } = folderWith(t, HOOK);
  const result = await run('adnanh', 'hooks.yaml', '--allow-loss');
  assert.equal(result.code, 0);
  assert.match(result.stdout, /^# .*hooks\.yaml/);
  assert.match(result.stderr, /--out <dir>/);
  assert.deepEqual([existsSync(path('hookwright.yaml')), existsSync(path('.env'))], [false, false]);
});

test('exits with 1 for a loss, with its position and advice, and with 0 if it is allowed', async (t) => {
  const { run } = folderWith(t, HOOK);
  const refused = await run('adnanh', 'hooks.yaml');
  assert.equal(refused.code, 1);
  assert.match(refused.stderr, /^hooks\.yaml:3:3: lost: success-http-response-code, hook site\n {3}\S/m);
  assert.equal((await run('adnanh', 'hooks.yaml', '--dry-run', '--allow-loss')).code, 0);
});

test('overwrites nothing, and only adds missing variables to .env', async (t) => {
  const { run, path } = folderWith(t, HOOK);
  writeFileSync(path('.env'), '# mine\nOTHER=kept\n', { mode: 0o600 });
  assert.equal((await run('adnanh', 'hooks.yaml', '--out', '.', '--allow-loss')).code, 0);
  assert.equal(readFileSync(path('.env'), 'utf8'), '# mine\nOTHER=kept\nSITE_SECRET=site-token-31\n');
  assert.equal(statSync(path('.env')).mode & 0o777, 0o600);
  const config = readFileSync(path('hookwright.yaml'), 'utf8');
  const again = await run('adnanh', 'hooks.yaml', '--out', '.', '--allow-loss');
  assert.equal(again.code, 1);
  assert.match(again.stderr, /hookwright\.yaml.*\n.*--out/);
  assert.equal(readFileSync(path('hookwright.yaml'), 'utf8'), config);
});

test('writes nothing if a variable of .env has another value', async (t) => {
  const { run, path } = folderWith(t, HOOK);
  writeFileSync(path('.env'), 'SITE_SECRET=another-secret\n', { mode: 0o600 });
  const result = await run('adnanh', 'hooks.yaml', '--out', '.', '--allow-loss');
  assert.equal(result.code, 1);
  assert.match(result.stderr, /\.env.*SITE_SECRET/);
  assert.equal(existsSync(path('hookwright.yaml')), false);
});

test('--json: prints every key with fate and position, and names of variables without values', async (t) => {
  const { run } = folderWith(t, HOOK);
  const { stdout, stderr, code } = await run('adnanh', 'hooks.yaml', '--json', '--out', 'out');
  const report = JSON.parse(stdout) as {
    routes: unknown;
    variables: unknown;
    entries: { fate: string; path: string; line: number }[];
  };
  assert.deepEqual([code, stderr], [1, '']);
  assert.deepEqual(report.routes, [{ name: 'site', from: 'hook site', open: true, path: '0' }]);
  assert.deepEqual(report.variables, [{ name: 'SITE_SECRET', known: true }]);
  const lost = report.entries.filter(({ fate }) => fate === 'lost');
  assert.deepEqual(
    lost.map(({ path, line }) => [path, line]),
    [['0.success-http-response-code', 3]],
  );
  assert.ok(!stdout.includes('site-token-31'));
});

test('rejects a foreign file with its position, without lines that may contain a secret', async (t) => {
  const refusals: readonly (readonly [string, string, RegExp])[] = [
    ['adnanh', 'a: 1', /^error: hooks\.yaml:1:1: .*\n.*convert hermes/],
    ['hermes', HOOK, /^error: hooks\.yaml:1:1: .*\n.*convert adnanh/],
    ['hermes', 'model: x', /platforms\.webhook\.extra\.routes/],
    ['adnanh', '- id: [a\n  secret: hush-hush', /^error: hooks\.yaml:2:3: /],
    ['adnanh', '- id: a\n  secret: *hush-hush', /^error: hooks\.yaml:2:11: /],
    ['adnanh', '{{ range .Hooks }}', /^error: hooks\.yaml:1:1: /],
  ];
  for (const [program, text, expected] of refusals) {
    const { run } = folderWith(t, text);
    const { code, stdout, stderr } = await run(program, 'hooks.yaml');
    assert.deepEqual([code, stdout], [1, '']);
    assert.match(stderr, expected);
    assert.ok(!stderr.includes('hush-hush'));
  }
  const { run } = folderWith(t, '');
  assert.match((await run('adnanh', 'nowhere.yaml')).stderr, /^error: nowhere\.yaml /);
  assert.equal((await run('adnanh', 'hooks.yaml', '--dry-run', '--out', 'x')).code, 2);
});
