/** Tests `hookwright diff`: it reports exactly the differences in meaning. */
import assert from 'node:assert/strict';
import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { test } from 'node:test';
import type { ConfigChange } from '../../../../modules/workbench/cli/diff/compare-tables.ts';
import type { CliResult } from '../../../helpers/cli.ts';
import { runInProcess } from '../../../helpers/cli.ts';
import { startGateway } from '../../../helpers/gateway.ts';
import { goldenTexts } from '../../../helpers/golden-texts.ts';
import { tempDir } from '../../../helpers/temp-dir.ts';

const printed = goldenTexts('modules/workbench/diff/diff.txt');

const CONFIG = `platforms:
  webhook:
    enabled: true
    secret: literal-secret-one
    routes:
      review:
        events: [pull_request, push]
        filters:
          - field: action
            equals: opened
          - not: { field: sender.type, equals: Bot }
        prompt: |
          Review #{number}
          of {repository.full_name}
        deliver: telegram
        deliver_extra: { chat_id: "{chat}" }
        toolsets: [web_search]
      alerts:
        prompt: x
  telegram:
    enabled: true
    token: env:TOKEN
    home_channel: "-1"
jobs:
  report: { schedule: "0 7 * * *", prompt: report }
`;

function open(t: TestContext) {
  const dir = tempDir(t);
  const write = (name: string, text: string): void => writeFileSync(join(dir, name), text);
  write('old.yaml', CONFIG);
  const run = (...argv: string[]): Promise<CliResult> =>
    runInProcess(['diff', ...argv], { home: join(dir, 'home'), cwd: dir });
  /** Prints the differences after a change of the config. */
  const sentences = async (change: (text: string) => string): Promise<string[]> => {
    const changed = change(CONFIG);
    assert.notEqual(changed, CONFIG, 'the change finds its place');
    write('new.yaml', changed);
    const { stdout, stderr, code } = await run('old.yaml', 'new.yaml', '--json');
    assert.notEqual(stdout, '', stderr);
    const { changes } = JSON.parse(stdout) as { readonly changes: readonly ConfigChange[] };
    assert.equal(code, changes.length === 0 ? 0 : 1);
    return changes.map(({ subject, name, sentence }) => `${subject} ${name}: ${sentence}`);
  };
  return { dir, write, run, sentences };
}

const DIFFERENCES: readonly (readonly [what: string, change: (text: string) => string])[] = [
  ['events', (text) => text.replace('[pull_request, push]', '[pull_request, "issue*"]')],
  [
    'a filter that is added',
    (text) => text.replace('          - not:', '          - { field: a, exists: true }\n          - not:'),
  ],
  ['a filter that is taken away', (text) => text.replace('          - not: { field: sender.type, equals: Bot }\n', '')],
  ['a prompt', (text) => text.replace('Review #', 'Look at #')],
  ['an address', (text) => text.replace('chat_id: "{chat}"', 'chat_id: "-7"')],
  ['toolsets', (text) => text.replace('toolsets: [web_search]', 'toolsets: [terminal]')],
  ['a route that is taken away, and one that is new', (text) => text.replace('      alerts:', '      warnings:')],
  [
    'a route that is switched off',
    (text) => text.replace('      alerts:\n', '      alerts:\n        enabled: false\n'),
  ],
  ['which requests are kept', (text) => text.replace('      alerts:\n', '      alerts:\n        capture: none\n')],
  ['a literal secret', (text) => text.replace('literal-secret-one', 'literal-secret-two')],
  [
    "a reference in a route's place",
    (text) => text.replace('      alerts:\n', '      alerts:\n        secret: env:OWN\n'),
  ],
  [
    'a target and its credential',
    (text) => text.replace('token: env:TOKEN', 'token: env:OTHER').replace('"-1"', '"-2"'),
  ],
  ['a job', (text) => text.replace('0 7 * * *', '0 8 * * *')],
  [
    'outputs and recipients of failure notices, by their canonical names',
    (text) =>
      text
        .replace(
          '      alerts:\n',
          '      alerts:\n        on_failure: { deliver: slack, deliver_extra: { chat_id: C1 } }\n        outputs: { status: { deliver: gitlab_status, project: g/p, sha: "{sha}", name: x } }\n',
        )
        .replace('jobs:', '  slack: { enabled: true, token: env:S }\n  gitlab: { enabled: true, token: env:G }\njobs:'),
  ],
  ['an agent and a limit', (text) => `${text}agent: { command: [cat] }\ngateway: { max_concurrent_runs: 2 }\n`],
  [
    'runs that a sandbox lets into one folder one by one',
    (text) => `${text}agent: { command: [cat], cwd: /, sandbox: { network: none } }\n`,
  ],
];

test('reports that a closed network had no access', async (t) => {
  const { write, run } = open(t);
  for (const [name, network] of [
    ['old.yaml', 'none'],
    ['new.yaml', 'any'],
  ] as const)
    write(name, `${CONFIG}agent: { command: [cat], sandbox: { network: ${network} } }\n`);
  const { stdout } = await run('old.yaml', 'new.yaml');
  assert.match(stdout, /sandbox\.network: none → any$/m);
});

for (const [what, change] of DIFFERENCES) {
  test(`reports the meaning of ${what}`, async (t) => {
    printed(what, (await open(t).sentences(change)).join('\n'));
  });
}

test('layout, comments, the order of keys and aliases are not differences', async (t) => {
  const { sentences } = open(t);
  const same = (text: string): string =>
    `# a comment\n${text}`
      .replace('deliver: telegram', 'deliver: messenger_a')
      .replace(
        '  telegram:\n    enabled: true\n    token: env:TOKEN\n',
        '  messenger_a:\n    token: env:TOKEN\n    enabled: true\n',
      )
      .replace('events: [pull_request, push]', 'events:\n          - pull_request\n          - push');
  assert.deepEqual(await sentences(same), []);
});

test('never shows a secret', async (t) => {
  const { write, run } = open(t);
  write('new.yaml', CONFIG.replace('literal-secret-one', 'literal-secret-two').replace('env:TOKEN', 'literal-token'));
  for (const argv of [[], ['--json']]) {
    const { stdout, stderr, code } = await run('old.yaml', 'new.yaml', ...argv);
    assert.equal(code, 1);
    assert.doesNotMatch(stdout + stderr, /literal-(secret|token)/);
  }
});

test('prints differences by entry, with both places, and a prompt as a diff', async (t) => {
  const { write, run } = open(t);
  write('new.yaml', `# one line more\n${CONFIG.replace('Review #', 'Look at #')}`);
  const { stdout } = await run('old.yaml', 'new.yaml');
  printed('a prompt, on a terminal', stdout);
});

test('accepts a compiled table as a side, and exits 0 without differences', async (t) => {
  const { dir, run } = open(t);
  mkdirSync(join(dir, 'home'), { recursive: true });
  const compiled = await runInProcess(['compile', '--config', 'old.yaml'], { home: join(dir, 'home'), cwd: dir });
  assert.equal(compiled.code, 0, compiled.stderr);
  for (const side of ['build', 'build/routes.json']) {
    const { code, stdout, stderr } = await run(side, 'old.yaml');
    assert.deepEqual([code, stdout], [0, '']);
    assert.notEqual(stderr, '');
  }
});

test('without sides, prints the changes that a reload of the running gateway would make', async (t) => {
  const home = tempDir(t);
  const config = CONFIG.replace('token: env:TOKEN', 'token: "1:a"');
  const gateway = await startGateway(t, { home, config });
  assert.equal((await gateway.cli('diff')).code, 0);
  cpSync(join(home, 'config.yaml'), join(home, 'next.yaml'));
  writeFileSync(join(home, 'next.yaml'), config.replace('[pull_request, push]', '[pull_request]'));
  const { code, stdout } = await gateway.cli('diff', '--config', 'next.yaml');
  assert.equal(code, 1);
  assert.match(stdout, /\bevents: push → /);
});

test('reports pending work whose target a reload would remove', async (t) => {
  const home = tempDir(t);
  const work = CONFIG.replace(
    'token: env:TOKEN',
    'token: "1:a"\n    api_base: http://127.0.0.1:9\n    allow_http: true',
  );
  const gateway = await startGateway(t, { home, config: work });
  for (const number of [1, 2]) {
    const payload = JSON.stringify({ action: 'opened', number, chat: '7', repository: { full_name: 'a/b' } });
    const sent = await gateway.cli('webhook', 'test', 'review', '--event', 'push', '--payload', payload);
    assert.equal(sent.code, 0, sent.stderr);
  }
  const untargeted = work.replace(/ {8}deliver: telegram\n.*\n/, '').replace(/ {2}telegram:\n( {4}.*\n)+/, '');
  writeFileSync(join(home, 'next.yaml'), untargeted);
  const { code, stdout } = await gateway.cli('diff', '--config', 'next.yaml');
  assert.equal(code, 1);
  assert.match(stdout, /^2 .*\btelegram\b.*\bdefault\b.*\b2\b.*\breview\b/m);
  const { open_work } = JSON.parse((await gateway.cli('diff', '--config', 'next.yaml', '--json')).stdout);
  assert.deepEqual(open_work, [
    { profile: 'default', target: 'telegram', count: 2, of: [{ route: 'review', job: null, count: 2 }] },
  ]);
});

test('exits 2 if a side is missing or has errors, or no gateway is running', async (t) => {
  const { write, run } = open(t);
  write('broken.yaml', CONFIG.replace('equals: opened', 'equal: opened'));
  write('broken.json', '{');
  const trouble = [
    [['gone.yaml', 'old.yaml'], /gone\.yaml/],
    [['old.yaml', 'broken.yaml'], /broken\.yaml:10:13: error/],
    [['broken.json', 'old.yaml'], /broken\.json/],
    [[], /^error: /],
  ] as const;
  for (const [argv, said] of trouble) {
    const { code, stdout, stderr } = await run(...argv);
    assert.deepEqual([code, stdout], [2, '']);
    assert.match(stderr, said);
  }
});
