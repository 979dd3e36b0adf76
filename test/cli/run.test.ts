import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadHelp } from '../../cli/command-line/clipanion.ts';
import { commandsOf, visibleIn } from '../../cli/commands.ts';
import { MODULES } from '../../main/modules.ts';
import { runInProcess } from '../helpers/cli.ts';
import { tempDir } from '../helpers/temp-dir.ts';

test('every listed command exists, with examples and described options', async () => {
  for (const entry of commandsOf(MODULES)) {
    const { examples, options } = await loadHelp(entry);
    assert.ok(examples.length > 0, `${entry.path} has examples`);
    for (const { description, names } of options) assert.notEqual(description, '', `${entry.path} ${names}`);
  }
});

test('every command shows a help text with its usage', async (t) => {
  const home = tempDir(t);
  for (const entry of commandsOf(MODULES)) {
    const result = await runInProcess([...entry.path.split(' '), '--help'], { home });
    assert.equal(result.code, 0, result.stderr);
    assert.match(result.stdout, new RegExp(`Usage: hookwright ${entry.path}\\b`));
    assert.ok(result.stdout.includes(`\n  hookwright ${entry.path}`), 'an example');
  }
});

test('the overview is short', async (t) => {
  const { stdout, code } = await runInProcess(['--help'], { home: tempDir(t) });
  assert.equal(code, 0);
  const lines = stdout.split('\n');
  assert.ok(lines.length <= 44, `${lines.length} lines`);
  for (const line of lines) assert.ok(line.length <= 100, line);
  for (const { path } of visibleIn(commandsOf(MODULES))) {
    const [group = '', verb = ''] = path.split(' ');
    assert.match(stdout, new RegExp(`^  ${group} .*${verb}`, 'ms'), path);
  }
});

test('each group lists its commands, one per line', async (t) => {
  const visible = visibleIn(commandsOf(MODULES));
  const groups = new Set(visible.flatMap(({ path, title }) => (title === null ? [] : [path.split(' ')[0] ?? ''])));
  assert.ok(groups.size > 10);
  for (const group of groups) {
    const { stdout, code } = await runInProcess([group, '--help'], { home: tempDir(t) });
    assert.equal(code, 0);
    for (const { path } of visible) {
      if (path.startsWith(`${group} `)) assert.match(stdout, new RegExp(`^  ${path} `, 'm'));
    }
  }
});

test('a group inside a group lists its commands too', async (t) => {
  const home = tempDir(t);
  const asked = await runInProcess(['gateway', 'loops', '--help'], { home });
  assert.equal(asked.code, 0, asked.stderr);
  assert.match(asked.stdout, /^Usage: hookwright gateway loops <command>[\s\S]*^ {2}gateway loops release /m);
  assert.doesNotMatch(asked.stdout, /gateway start/);
  const bare = await runInProcess(['gateway', 'loops'], { home });
  assert.deepEqual([bare.code, bare.stdout, bare.stderr], [2, '', asked.stdout]);
});

const usage: readonly (readonly [string[], RegExp])[] = [
  [[], /Usage: hookwright/],
  [['routes', 'list'], /"routes list"\n.* hookwright webhook list --all/],
  [['targets', 'list'], /"targets list"\n.* hookwright docs targets/],
  [['schma'], /"schma"\n.* hookwright schema/],
  [['--json', 'schema'], /--json/],
  [['schema', '--jsno'], /"--jsno".*\n.* --json\b/],
  [['schema', 'a', 'b'], /"b"/],
];
const typed = `help version config env secret secrets install upgrade update service webhooks webhook routes targets
sources source jobs run start dev watch check validate test status logs new create events history agents cron fmt ps`.split(
  /\s+/,
);
test('common first attempts get a command or a suggestion', async (t) => {
  const home = tempDir(t);
  for (const word of typed) {
    const { code, stderr } = await runInProcess([word], { home });
    const isKnown = code !== 2 || stderr.startsWith('Usage: ');
    assert.ok(isKnown || /\n.* hookwright /.test(stderr), `${word}: ${stderr}`);
  }
});

for (const [argv, expected] of usage) {
  test(`wrong usage exits 2 and prints a hint: hookwright ${argv.join(' ')}`, async (t) => {
    const result = await runInProcess(argv, { home: tempDir(t) });
    assert.equal(result.code, 2);
    assert.equal(result.stdout, '');
    assert.match(result.stderr, expected);
    assert.doesNotMatch(result.stderr, /\n {4}at /);
  });
}

test('a failure exits 1, names the next step and shows no stack', async (t) => {
  const result = await runInProcess(['schema', 'confg'], { home: tempDir(t) });
  assert.equal(result.code, 1);
  assert.match(result.stderr, /^error: .*"confg"\n {2}.* hookwright schema config\n$/);
});

test('every reference of a printed schema resolves within the output', async (t) => {
  const home = tempDir(t);
  const { stdout } = await runInProcess(['schema'], { home });
  const { Ajv2020 } = await import('ajv/dist/2020.js');
  for (const name of stdout.trim().split('\n')) {
    const printed = await runInProcess(['schema', name], { home });
    // The code may be slow, because nothing is validated.
    const quick = { code: { optimize: false }, inlineRefs: false, validateSchema: false } as const;
    const ajv = new Ajv2020({ ...quick, strict: true, allowUnionTypes: true, discriminator: true });
    // An annotation for editors.
    ajv.addKeyword('x-payload');
    assert.equal(typeof ajv.compile(JSON.parse(printed.stdout)), 'function', name);
  }
});
