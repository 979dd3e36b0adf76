/** A hook whose command would execute a sender's text becomes a closed route, and no conversion marks a command as confined. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { convertAdnanh } from '../../../modules/convert/compiler/adnanh/convert-adnanh.ts';
import { runInProcess } from '../../helpers/cli.ts';
import { ROOT } from '../../helpers/root.ts';
import { tempDir } from '../../helpers/temp-dir.ts';

type Hook = Readonly<Record<string, unknown>>;

/** `null` is a value of the payload. */
const command = (...argv: readonly [string, ...(string | null)[]]): Hook => ({
  'execute-command': argv[0],
  'pass-arguments-to-command': argv
    .slice(1)
    .map((name) => (name === null ? { source: 'payload', name: 'x' } : { source: 'string', name })),
});
const sent = (envname: string, source = 'payload'): readonly Hook[] => [{ source, name: 'x', envname }];
const variable = (name: string, ...argv: readonly [string, ...string[]]): Hook => ({
  ...command(...argv),
  'pass-environment-to-command': sent(name),
});
const file = (name: string, ...argv: readonly [string, ...string[]]): Hook => ({
  ...command(...argv),
  'pass-file-to-command': sent(name, 'entire-payload'),
});

/** The reasons of losses, and whether the route accepts events. */
function convert(hook: Hook): { readonly lost: readonly string[]; readonly open: boolean; readonly config: string } {
  const text = JSON.stringify([{ id: 'a', ...hook }]);
  const source = { path: '/hooks.json', name: 'hooks.json', text };
  const result = convertAdnanh(source, '', { check: () => [], newSecret: () => 'made' });
  assert.ok('config' in result);
  const lost = result.entries.filter(({ fate }) => fate === 'lost').map(({ reason }) => reason);
  return { lost, open: result.routes[0]?.open === true, config: result.config };
}

const EXECUTED: Readonly<Record<string, Hook>> = {
  'sh -c <sent>': command('/bin/sh', '-c', null),
  '<sent> may be the option': command('bash', null, 'x'),
  'bash <sent>, which names the program': command('/usr/bin/bash', null),
  'env sh -c': command('env', 'A=b', 'sh', '-c', null),
  'env -S': command('env', '-S', null),
  'env, where it is the program': command('/usr/bin/env', null),
  'python -c': command('python3', '-c', null),
  'perl -e': command('perl', '-e', null),
  'node -e': command('node', '-e', null),
  awk: command('awk', null, '/etc/passwd'),
  'sed, behind its script': command('sed', 's/a/b/', null),
  xargs: command('xargs', null),
  sudo: command('sudo', '/srv/deploy.sh', null),
  ssh: command('ssh', 'box', 'deploy', null),
  make: command('make', '-C', '/srv', null),
  find: command('find', null, '-delete'),
  'psql -c': command('psql', '-At', '-c', null),
  'git -c': command('git', '-c', null, 'fetch'),
  'docker exec': command('docker', 'exec', 'box', null),
  ...Object.fromEntries(
    [
      'tar xf - ?',
      'java -cp ? Main',
      'rsync -e ? a b',
      '/usr/bin/npm run ?',
      'terraform ?',
      'mongosh --eval ?',
      '/usr/local/bin/ansible all -a ?',
      'run-parts ?',
      'su-exec me ?',
      'wget ?',
      'node -r ? /srv/hook.js',
      'python3 -m ?',
    ].map((line) => {
      const [program = '', ...rest] = line.split(' ').map((word) => (word === '?' ? null : word));
      return [line, command(program as string, ...rest)];
    }),
  ),
  'the code gives it to such a program': command('sh', '-c', 'tar xf "$1"', 'sh', null),
  'the code runs its arguments': command('sh', '-c', '"$@"', 'sh', null),
  'the code evaluates them': command('sh', '-c', 'eval "deploy $1"', 'sh', null),
  'the code evaluates a variable': variable('TARGET', 'bash', '-c', 'eval "deploy $TARGET"'),
  ...Object.fromEntries(
    [
      'trap "$1" EXIT',
      'nohup "$1"',
      'sudo -u me "$1"',
      'time "$1"',
      'command "$@"',
      'if "$1"; then :; fi',
      'true; then "$1"',
      '! "$1"',
      'let "$1"',
      'printf -v x "$1"',
      'unset "$1"',
      '[[ $1 -eq 3 ]]',
      'echo\n"$1"',
      '>x "$1"',
      'A=b "$1"',
      'cd /srv && "$1"',
      'echo x; "$*"',
      'bash -c "$1"',
      'awk "$1" file',
      'alias a="$1"; a',
      'python3 - <<< "$1"',
      'echo `$1`',
      'echo "$(echo $1)"',
    ].map((code) => [`bash -c '${code}'`, command('bash', '-c', code, 'bash', null)]),
  ),
  'make, which expands variables': variable('X', 'make', 'deploy'),
  'python code imports a variable': variable('X', 'python3', '-c', 'import os; __import__(os.environ["X"])'),
  'node code requires a variable': variable('X', 'node', '-e', 'require(process.env.X)'),
  'guile -c': command('guile', '-c', null),
  'the code reads a file of the sender': file('BODY', 'sh', '-c', '. "$BODY"'),
  'python code executes a variable': variable('X', 'python3', '-c', 'import os; exec(os.environ["X"])'),
  BASH_ENV: variable('BASH_ENV', '/srv/deploy.sh'),
  LD_PRELOAD: file('LD_PRELOAD', '/srv/deploy'),
  PATH: variable('PATH', '/srv/deploy'),
  GIT_SSH_COMMAND: variable('GIT_SSH_COMMAND', 'git', 'fetch'),
  'a header that the sender writes': {
    ...command('sh', '-c'),
    'pass-arguments-to-command': [{ source: 'string', name: '-c' }, { source: 'entire-payload' }],
  },
};

describe('closed', () => {
  for (const [name, hook] of Object.entries(EXECUTED))
    test(name, () => {
      const { lost, open, config } = convert(hook);
      assert.equal(open, false);
      assert.ok(lost.length > 0);
      assert.match(config, /enabled: false/);
    });
});

const TAKEN: Readonly<Record<string, Hook>> = {
  'a separate program': command('/srv/deploy.sh', '--ref', null),
  'a script, behind its name': command('bash', '/srv/deploy.sh', null),
  'python behind the script': command('python3', '/srv/deploy.py', '-c', null),
  'code that takes it as data': command('sh', '-c', './deploy "$1"', 'sh', null),
  'a script in a folder of programs': command('/usr/local/bin/deploy.sh', null),
  'a script that is looked for': command('deploy.py', null),
  'a program that prints it': command('/usr/bin/logger', '-t', 'hook', null),
  'code with several commands': command('bash', '-c', 'cd /srv && git pull; echo "at $ref" "$1"', 'bash', null),
  'code without a value of the sender': command('sh', '-c', 'eval "$FIXED"'),
  'a variable': variable('HOOK_ref', '/srv/deploy.sh'),
  'a file': file('BODY', '/srv/deploy.sh'),
};

describe('open', () => {
  for (const [name, hook] of Object.entries(TAKEN))
    test(name, () => assert.deepEqual([convert(hook).lost, convert(hook).open], [[], true]));
});

test('no conversion marks a command as confined, and `lint --strict` reports it', async (t) => {
  const fixtures = join(ROOT, 'test/fixtures/convert');
  for (const name of readdirSync(fixtures, { recursive: true, encoding: 'utf8' }))
    if (name.endsWith('hookwright.yaml')) assert.doesNotMatch(readFileSync(join(fixtures, name), 'utf8'), /confined/);
  const [home, cwd] = [tempDir(t), tempDir(t)];
  writeFileSync(join(cwd, 'hooks.json'), JSON.stringify([{ id: 'a', ...command('/srv/deploy.sh', null) }]));
  const converted = await runInProcess(['convert', 'adnanh', 'hooks.json', '--out', '.'], { home, cwd });
  assert.equal(converted.code, 0, converted.stderr);
  const { code, stdout, stderr } = await runInProcess(['lint', '--strict'], { home, cwd });
  assert.equal(code, 1);
  assert.match(stdout + stderr, /agent-unconfined/);
});
