/** Which home a command uses: `--home`, the variable, `home` of the configuration, or the usual one. */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { test } from 'node:test';
import { runInProcess } from '../helpers/cli.ts';
import { tempDir } from '../helpers/temp-dir.ts';

const ROUTES =
  'platforms:\n  webhook: { enabled: true, secret: env:S, routes: { a: { prompt: "{title} at home" } } }\n';

function project(t: TestContext, config: string | null, name = 'hookwright.yaml') {
  const [cwd, usual] = [tempDir(t), tempDir(t)];
  if (config !== null) writeFileSync(join(cwd, name), config);
  const run = (argv: readonly string[], variable = '', at = cwd) =>
    runInProcess([...argv], {
      home: usual,
      cwd: at,
      env: { HOOKWRIGHT_HOME: variable, HOME: '/home/jo', S: '8f4c2be19d5a7306e1c4' },
    });
  /** The home that a command names because no gateway serves it. */
  const homeOf = async (argv: readonly string[] = [], variable = '', at = cwd): Promise<string> => {
    const { stderr } = await run(['gateway', 'reload', ...argv], variable, at);
    return /for (\S+)/.exec(stderr)?.[1] ?? stderr;
  };
  return { cwd, usual, run, homeOf };
}

test('the option takes precedence over the variable, and that over the configuration', async (t) => {
  const { cwd, usual, run, homeOf } = project(t, `home: ./state\n${ROUTES}`);
  assert.equal(await homeOf(), join(cwd, 'state'));
  assert.equal(await homeOf([], usual), usual);
  assert.equal(await homeOf(['--home', 'other'], usual), join(cwd, 'other'));
  assert.equal(await homeOf(['--home=other', '--home', 'last']), join(cwd, 'last'));
  const { stderr } = await run(['--home', '/srv/x', 'gateway', 'reload']);
  assert.match(stderr, /for \/srv\/x/);
  for (const wrong of [['--home'], ['--home=']]) assert.equal((await run(['gateway', 'reload', ...wrong])).code, 2);
});

test('the path is relative to the file that names it, whatever its form', async (t) => {
  const forms = {
    'home: "./a b" # c\n': 'a b',
    "'home': state": 'state',
    '{"home": "state"}': 'state',
    'home: /srv/state': '/srv/state',
    'home: ~/state': '/home/jo/state',
    'home: ./state\nplatforms: [': 'state',
    "home: './st#ate' # comment\nplatforms: [": 'st#ate',
  };
  for (const [text, expected] of Object.entries(forms)) {
    const { cwd, usual, run } = project(t, text);
    const { stderr } = await run(['gateway', 'reload']);
    assert(stderr.includes(expected.startsWith('/') ? expected : join(cwd, expected)), `${text}: ${stderr}`);
    const named = await run(['gateway', 'reload'], '', usual);
    assert(named.stderr.includes(usual), 'another folder has the usual home');
  }
  for (const text of [ROUTES, 'home: 5', 'home: ""', '- home: x', 'x-home: y', 'jobs: { home: { prompt: x } }', '']) {
    const { usual, homeOf } = project(t, text);
    assert.equal(await homeOf(), usual, text);
  }
});

test('the file of `--config` names it, also by a glob', async (t) => {
  const { cwd, usual, run } = project(t, `home: state\n${ROUTES}`, 'own.yaml');
  for (const config of [join(cwd, 'own.yaml'), join(cwd, 'ow*.yaml')]) {
    await run(['job', 'create', 'j', '--schedule', '0 8 * * *', '--prompt', 'x', '--config', config], '', usual);
    assert(existsSync(join(cwd, 'state', 'state.db')) && !existsSync(join(usual, 'state.db')));
    rmSync(join(cwd, 'state'), { recursive: true });
  }
});

test('where it has no effect, it is an error', async (t) => {
  const { cwd, usual, run } = project(t, `include: [more.yaml]\n${ROUTES}`);
  writeFileSync(join(cwd, 'more.yaml'), 'home: state\n');
  const included = JSON.parse((await run(['lint', '--format', 'json'])).stdout) as Linted;
  assert.deepEqual(placesOf(included).slice(-1), [['invalid-value', 'more.yaml', 1]]);
  writeFileSync(join(usual, 'config.yaml'), `home: state\n${ROUTES}`);
  const elsewhere = tempDir(t);
  mkdirSync(elsewhere, { recursive: true });
  const own = await run(['lint', '--format', 'json'], '', elsewhere);
  assert.deepEqual(placesOf(JSON.parse(own.stdout) as Linted).at(-1)?.[0], 'invalid-value');
});

type Linted = readonly {
  readonly rule: string;
  readonly file: string;
  readonly severity: string;
  readonly line: number;
}[];

const placesOf = (linted: Linted) =>
  linted.filter(({ severity }) => severity === 'error').map(({ rule, file, line }) => [rule, file, line]);
