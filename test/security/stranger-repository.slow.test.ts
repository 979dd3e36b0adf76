/**
 * A repository of a stranger, as a CI job sees it: no command prints or changes a file outside of its folder because the
 * configuration names it, and no text in it controls the terminal or the job.
 */
import assert from 'node:assert/strict';
import {
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import type { TestContext } from 'node:test';
import { test } from 'node:test';
import { readRegularFileSync } from '../../base/files.ts';
import type { CliResult } from '../helpers/cli.ts';
import { runInProcess } from '../helpers/cli.ts';
import { tempDir } from '../helpers/temp-dir.ts';

/** Appears in each file outside, as a key, as a value and as a comment. */
const MARK = 'Zq7-outside-Zq7';
const SECRET = 'b7c1f0d25e9a4c83a6f7e2d19c05b38e';
const NETRC = `machine ${MARK} login me\npasswrd ${MARK}: [\n`;
const YAML = `${MARK}: x # ${MARK}\nplatforms: { webhook: { extra: { routes: { ${MARK}: { promt: ${MARK} } } } } }\n`;
const SCHEMA = `{"type": "objekt", "${MARK}": "${MARK}", "properties": {"${MARK}": {"type": "string"}}}\n`;
const ROUTES = `platforms:
  webhook:
    enabled: true
    extra:
      routes:
        ci: { source: mine, secret: env:S, deliver: log, prompt: "{__raw__}" }
`;

interface Repository {
  readonly dir: string;
  readonly home: string;
  readonly write: (path: string, text: string) => void;
  readonly link: (path: string, to: string) => string;
  readonly run: (...argv: string[]) => Promise<CliResult>;
}

function repository(t: TestContext): Repository {
  const base = tempDir(t);
  const dir = join(base, 'repo');
  const home = join(base, 'home');
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(join(dir, path)), { recursive: true });
    writeFileSync(join(dir, path), text);
  };
  const link = (path: string, to: string): string => {
    mkdirSync(dirname(join(dir, path)), { recursive: true });
    symlinkSync(to, join(dir, path));
    return path;
  };
  mkdirSync(home);
  for (const [path, text] of Object.entries({ netrc: NETRC, 'a.yaml': YAML, 'schema.json': SCHEMA }))
    write(join('../outside', path), text);
  write('../home/.env', NETRC);
  write('.git/config', NETRC);
  write('.env', `x ${MARK}\n`);
  const run = (...argv: string[]): Promise<CliResult> => runInProcess(argv, { home, cwd: dir, env: { S: SECRET } });
  return { dir, home, write, link, run };
}

const outsideOf = ({ dir }: Repository): readonly string[] =>
  ['netrc', 'a.yaml', 'schema.json'].map((name) => readFileSync(join(dir, '../outside', name), 'utf8'));

const COMMANDS: readonly (readonly string[])[] = [
  ['lint'],
  ['lint', '--format', 'json'],
  ['lint', '--format', 'github'],
  ['lint', '--format', 'sarif'],
  ['lint', '--fix'],
  ['lint', '--fix', '--dry-run'],
  ['compile'],
  ['test'],
  ['test', '--update'],
  ['source', 'list'],
  ['source', 'show', 'mine'],
  ['source', 'shape', 'mine'],
  ['explain', 'ci', '--payload', '{}'],
  ['profile', 'show', 'default'],
];

/** Runs all commands. No output and no written file has the mark, and nothing outside has changed. */
async function attack(repo: Repository): Promise<void> {
  const before = outsideOf(repo);
  for (const argv of COMMANDS) {
    const { stdout, stderr } = await repo.run(...argv);
    for (const text of [stdout, stderr]) assert.ok(!text.includes(MARK), `${argv.join(' ')}:\n${text}`);
  }
  assert.deepEqual(outsideOf(repo), before);
  for (const name of ['build/routes.json', 'x.test.yaml']) {
    const built = written(join(repo.dir, name));
    assert.ok(!built.includes(MARK), `${name}: ${built}`);
  }
}

/** Empty for a link, which the repository has brought. */
const written = (path: string): string =>
  lstatSync(path, { throwIfNoEntry: false })?.isFile() === true ? readFileSync(path, 'utf8') : '';

const OWN = 'sources:\n  mine: { verify: hmac-sha256, signature: { header: X-S }, signed: "{body}" }\n';
const VALID = `${OWN}${ROUTES}`;
const SOURCE =
  'sources:\n  mine: { verify: hmac-sha256, signature: { header: X-S }, signed: "{body}", shape: SHAPE }\n';

const INCLUDES: Readonly<Record<string, (repo: Repository) => string>> = {
  'a path with ..': () => '../outside/netrc',
  'a YAML file with ..': () => '../outside/a.yaml',
  'an absolute path': ({ dir }) => join(dir, '../outside/netrc'),
  'a glob outside': () => '../outside/*',
  'a glob with ** outside': () => '../**/netrc',
  'a link to a file': ({ link }) => link('conf/x.yaml', '../../outside/netrc'),
  'a link that a glob finds': ({ link }) => link('conf/x.yaml', '../../outside/a.yaml').replace('x', '*'),
  'a link to a folder': ({ link }) => `${link('conf', '../outside')}/netrc`,
  'a link to a folder, with a glob': ({ link }) => `${link('conf', '../outside')}/*`,
  'a link to a link': ({ link }) => link('c', `${link('b', '../outside')}/netrc`),
  'the data of Git': () => '.git/config',
  'the data of Git in other letters': ({ link }) => `${link('.GIT', '.git')}/config`,
  'the .env beside it': () => '.env',
  "the home's .env": () => '../home/.env',
  'a file of the process': ({ link }) => `${link('p', '/proc/self/cwd/../outside')}/netrc`,
};

for (const [name, prepare] of Object.entries(INCLUDES)) {
  test(`include: ${name}`, async (t) => {
    const repo = repository(t);
    repo.write('hookwright.yaml', `include: ["${prepare(repo)}"]\n${ROUTES}`);
    await attack(repo);
    assert.equal((await repo.run('lint')).code, 1);
  });

  test(`shape: ${name}`, async (t) => {
    const repo = repository(t);
    const file = prepare(repo).replace('*', 'schema.json').replace('netrc', 'schema.json');
    repo.write('hookwright.yaml', SOURCE.replace('SHAPE', JSON.stringify(file)) + ROUTES);
    await attack(repo);
    assert.equal((await repo.run('lint')).code, 1);
  });

  test(`payload_file and request: ${name}`, async (t) => {
    const repo = repository(t);
    const file = JSON.stringify(prepare(repo).replace('*', 'schema.json').replace('netrc', 'schema.json'));
    repo.write('hookwright.yaml', VALID);
    const expect = 'expect: { prompt: none, snapshot: true }';
    const tests = ['payload_file', 'request'].map((key) => `  - { name: a, route: ci, ${key}: ${file}, ${expect} }\n`);
    repo.write('x.test.yaml', `tests:\n${tests.join('')}`);
    await attack(repo);
  });
}

test('a configuration or a test that is a link out of its folder', async (t) => {
  for (const to of ['../outside/netrc', '../outside/a.yaml', '.git/config', '.env']) {
    const repo = repository(t);
    repo.link('hookwright.yaml', to);
    await attack(repo);
    const other = repository(t);
    other.write('hookwright.yaml', VALID);
    other.link('x.test.yaml', to);
    await attack(other);
  }
});

test('a test that names a configuration elsewhere', async (t) => {
  const repo = repository(t);
  repo.write('hookwright.yaml', VALID);
  repo.write('x.test.yaml', 'config: ../outside/a.yaml\ntests:\n  - { name: a, route: ci, payload: {}, expect: {} }\n');
  await attack(repo);
});

test('a list of values elsewhere', async (t) => {
  const repo = repository(t);
  const filter = `filters: [{ path: action, in_file: "${join(repo.dir, '../outside/netrc')}" }]`;
  repo.write('hookwright.yaml', `${OWN}${ROUTES.replace('prompt:', `${filter}, prompt:`)}`);
  repo.write('x.test.yaml', 'tests:\n  - { name: a, route: ci, payload: {action: x}, expect: {outcome: accepted} }\n');
  await attack(repo);
});

test('--root allows another folder, and links inside of the folder are read', async (t) => {
  const repo = repository(t);
  repo.write('../shared/ok.yaml', ROUTES.replace('source: mine', 'source: github'));
  repo.write('hookwright.yaml', 'include: [../shared/*.yaml]\n');
  assert.equal((await repo.run('lint')).code, 1);
  assert.equal((await repo.run('lint', '--root', '../shared')).code, 0);
  const inside = repository(t);
  inside.write('real/ok.yaml', ROUTES.replace('source: mine', 'source: github'));
  inside.link('conf', 'real');
  inside.write('hookwright.yaml', 'include: [conf/ok.yaml]\n');
  assert.equal((await inside.run('lint')).code, 0);
});

test('a file that is swapped while it is read is not read', (t) => {
  const repo = repository(t);
  repo.write('a.yaml', 'x: 1\n');
  let asked = 0;
  const readSwapped = (): Buffer =>
    readRegularFileSync(join(repo.dir, 'a.yaml'), 1000, (real) => {
      if (asked++ === 0) {
        renameSync(join(repo.dir, 'a.yaml'), join(repo.dir, 'b.yaml'));
        repo.link('a.yaml', '../outside/netrc');
      }
      return real.includes('/repo/');
    });
  assert.throws(readSwapped, { code: 'EOUTSIDE' });
});

const NASTY = 'a\n::add-mask::e\r\n##[stop-commands]x \u009b31m \u202e \u{e0041} \u200b \u2066 \u001b[2J';

test('no text in a configuration controls the terminal or the CI job', async (t) => {
  const repo = repository(t);
  const key = JSON.stringify(NASTY);
  repo.write(
    'hookwright.yaml',
    `${key}: 1\n::add-mask::y: 1\n${ROUTES.replace('source: mine', 'source: github').replace('{__raw__}', NASTY.replaceAll('\n', '\\n').replaceAll('\r', '\\r').replaceAll('\u001b', '\\e'))}`,
  );
  repo.write(
    'x.test.yaml',
    `tests:\n  - { name: ${key}, route: ci, payload: {}, expect: { prompt: ${key}, event: ${key} } }\n`,
  );
  const env = { GITHUB_ACTIONS: 'true', S: SECRET };
  const formats = ['pretty', 'json', 'github', 'sarif'].map((format) => ['lint', '--format', format]);
  const tests = ['pretty', 'json', 'github', 'junit'].map((format) => ['test', '--format', format]);
  const valid = repository(t);
  valid.write(
    'hookwright.yaml',
    readFileSync(join(repo.dir, 'hookwright.yaml'), 'utf8').split('\n').slice(2).join('\n'),
  );
  valid.write('x.test.yaml', readFileSync(join(repo.dir, 'x.test.yaml'), 'utf8'));
  const explain = [
    ['explain', 'ci', '--payload', JSON.stringify({ [NASTY]: NASTY })],
    ['explain', 'ci', '--json', '--payload', JSON.stringify({ [NASTY]: NASTY })],
    ['explain', NASTY],
    ['rule', NASTY],
    ['lint', NASTY],
  ];
  for (const [where, argvs] of [
    [repo, [...formats, ['lint', '--fix', '--dry-run']]],
    [valid, [...tests, ...explain]],
  ] as const)
    for (const argv of argvs as readonly (readonly string[])[]) {
      const done = await runInProcess(argv, { home: where.home, cwd: where.dir, env });
      for (const text of [done.stdout, done.stderr].map((text) => text.replaceAll('\r\n', '\n'))) {
        const what = `${argv.join(' ')}:\n${text}`;
        assert.doesNotMatch(
          text,
          /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2066-\u2069]|\u{e0041}/u,
          what,
        );
        assert.doesNotMatch(text, /^\s*::(?!(?:error|warning|notice) )/m, what);
        assert.doesNotMatch(text, /##\w*\[/, what);
      }
      if (argv.includes('json') || argv.includes('--json') || argv.includes('sarif'))
        assert.doesNotThrow(() => JSON.parse(done.stdout), `${argv.join(' ')}:\n${done.stderr}`);
    }
});

/** Links that a repository brings, for the files that `compile` writes by itself. */
const OUTPUTS: Readonly<Record<string, (repo: Repository) => unknown>> = {
  'the table is a link to a file outside': ({ link }) => link('build/routes.json', '../../outside/netrc'),
  'the catalog is a link to a file outside': ({ link }) => link('build/blueprints.json', '../../outside/netrc'),
  'the table is a link to the .env': ({ link }) => link('build/routes.json', '../.env'),
  'the table is a link to the configuration': ({ link }) => link('build/routes.json', '../hookwright.yaml'),
  'the table is a link to nothing': ({ link }) => link('build/routes.json', '../../outside/new'),
  'the folder is a link out': ({ link }) => link('build', '../outside'),
  'the folder is a link to nothing': ({ link }) => link('build', '../outside/new'),
  'the folder is a link to a link out': ({ link }) => link('build', link('b', '../outside')),
  'the folder is a link to the data of Git': ({ link }) => link('build', '.git'),
  'the folder is a link to itself': ({ link }) => link('build', 'build'),
};

/** Each file of the repository and beside it, with its content or the target of its link. */
const filesAround = ({ dir }: Repository): Readonly<Record<string, string>> =>
  Object.fromEntries(
    readdirSync(dirname(dir), { recursive: true, encoding: 'utf8' })
      .map((name) => [name, join(dirname(dir), name)] as const)
      .filter(([, path]) => !lstatSync(path).isDirectory())
      .map(([name, path]) => [name, lstatSync(path).isFile() ? readFileSync(path, 'utf8') : readlinkSync(path)]),
  );

for (const [name, prepare] of Object.entries(OUTPUTS)) {
  test(`compile: ${name}`, async (t) => {
    const repo = repository(t);
    repo.write('hookwright.yaml', VALID);
    prepare(repo);
    const before = filesAround(repo);
    const { code, stderr } = await repo.run('compile');
    assert.equal(code, 1);
    assert.match(stderr, /--out/);
    assert.deepEqual(filesAround(repo), before);
  });
}

test('init, convert, source learn and setup write through no link', async (t) => {
  const learn = ['source', 'learn', 'mine', '--from', 'saved.json', '--out', 'shapes'];
  const cases: readonly (readonly [readonly string[], string, string])[] = [
    [['init', '--yes'], '.env', '../outside/netrc'],
    [['init', '--yes'], '.env', '../outside/new'],
    [['init', '--yes'], 'hookwright.yaml', '../outside/new'],
    [['convert', 'adnanh', 'hooks.json', '--out', '.'], '.env', '../outside/netrc'],
    [['convert', 'adnanh', 'hooks.json', '--out', '.'], 'hookwright.yaml', '../outside/new'],
    [learn, 'shapes/mine.yaml', '../../outside/schema.json'],
    [[...learn, '--force'], 'shapes/mine.yaml', '../../outside/netrc'],
    [['gateway', 'setup', '--yes'], 'hookwright.yaml', '../outside/a.yaml'],
  ];
  for (const [argv, path, to] of cases) {
    const repo = repository(t);
    rmSync(join(repo.dir, '.env'));
    repo.write('saved.json', '{"a": 1}');
    repo.write('hooks.json', '[{"id": "x", "execute-command": "/bin/true"}]');
    if (argv === learn || argv.includes('--force')) repo.write('hookwright.yaml', VALID);
    repo.link(path, to);
    const before = filesAround(repo);
    const { code, stdout, stderr } = await repo.run(...argv);
    assert.equal(code, 1, `${argv.join(' ')}: ${stdout}${stderr}`);
    assert.match(stderr, /link/);
    assert.ok(!stderr.includes(MARK), stderr);
    assert.deepEqual(filesAround(repo), before, argv.join(' '));
  }
});

test('a folder for tables outside is written to if the command line names it', async (t) => {
  for (const argv of [
    ['compile', '--out', 'build'],
    ['compile', '--root', '../outside'],
  ]) {
    const repo = repository(t);
    repo.write('hookwright.yaml', VALID);
    repo.link('build', '../outside');
    assert.equal((await repo.run(...argv)).code, 0, argv.join(' '));
    assert.match(readFileSync(join(repo.dir, '../outside/routes.json'), 'utf8'), /hmac-sha256/);
    const other = repository(t);
    other.write('hookwright.yaml', VALID);
    other.link('build/routes.json', '../../outside/netrc');
    assert.equal((await other.run('compile', '--out', 'build')).code, 1);
    assert.equal(readFileSync(join(other.dir, '../outside/netrc'), 'utf8'), NETRC);
  }
  const inside = repository(t);
  inside.write('hookwright.yaml', VALID);
  inside.write('tables/x', '');
  inside.link('build', 'tables');
  assert.equal((await inside.run('compile')).code, 0);
});

test('a named file in a folder that is a link out is not read', async (t) => {
  const repo = repository(t);
  repo.write('../outside/x.test.yaml', `tests: [{ ${MARK}: 1 }]\n`);
  repo.write('hookwright.yaml', VALID);
  repo.link('tests', '../outside');
  for (const argv of [
    ['test', 'tests/x.test.yaml'],
    ['test', '--update', join(repo.dir, 'tests/x.test.yaml')],
    ['lint', 'tests/a.yaml'],
    ['lint', '--fix', 'tests/*.yaml'],
    ['compile', '--config', 'tests/a.yaml'],
    ['test', '--config', 'tests/a.yaml'],
  ]) {
    const before = filesAround(repo);
    const { code, stdout, stderr } = await repo.run(...argv);
    assert.equal(code, 1, argv.join(' '));
    assert.ok(!`${stdout}${stderr}`.includes(MARK), `${argv.join(' ')}: ${stdout}${stderr}`);
    assert.deepEqual(filesAround(repo), before);
  }
  assert.ok((await repo.run('lint', '--root', '../outside', 'tests/a.yaml')).stdout.includes(MARK));
});
