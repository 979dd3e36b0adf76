/**
 * Tests that the text of a sender's delivery id is never executed, in an argument with code or where a session id is pasted.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { sessionId } from '../../runtime/platform/ids.ts';
import { compileFiles } from '../helpers/compile.ts';
import { runsOf } from '../helpers/sample.ts';
import { serve } from '../helpers/serve.ts';

const ROUTES = 'platforms: { webhook: { enabled: true, secret: env:A, routes: { a: { prompt: x } } } }';

const config = (command: readonly string[]): string => `${ROUTES}\nagent: { command: ${JSON.stringify(command)} }\n`;

const rulesOf = (command: readonly string[]) =>
  compileFiles({ 'hookwright.yaml': config(command) }).diagnostics.map(({ rule, hint }) => `${rule}: ${hint}`);

const REFUSED: readonly (readonly [...string[]])[] = [
  ['sh', '-c', 'agent {session}'],
  ['/bin/sh', '-c', 'agent {session}'],
  ['bash', '-lc', 'agent {session}'],
  ['bash', '--norc', '-o', 'pipefail', '-c', 'agent {session}'],
  ['bash', '-c', '-o', 'pipefail', 'agent {session}'],
  ['bash', '-ec', '--', 'agent {session}'],
  ['zsh', '-ic', 'agent {route}'],
  ['dash', '-c', 'agent {profile}'],
  ['fish', '--command=agent {session}'],
  ['env', 'A=b', 'sh', '-c', 'agent {session}'],
  ['/usr/bin/env', '-i', 'PATH=/bin', '/bin/bash', '-c', 'agent {session}'],
  ['env', '-S', 'agent {session}'],
  ['env', '--split-string=agent {session}'],
  ['sudo', '-u', 'bot', 'sh', '-c', 'agent {session}'],
  ['timeout', '60', 'sh', '-c', 'agent {session}'],
  ['docker', 'exec', '-i', 'box', 'sh', '-c', 'agent {session}'],
  ['busybox', 'sh', '-c', 'agent {session}'],
  ['su', '-', 'bot', '-c', 'agent {session}'],
  ['flock', '/tmp/lock', '-c', 'agent {session}'],
  ['cmd', '/c', 'agent.exe', '{session}'],
  ['C:\\Windows\\System32\\CMD.EXE', '/d', '/s', '/C', 'agent.exe {session}'],
  ['powershell', '-NoProfile', '-Command', 'agent', '{session}'],
  ['pwsh.exe', '-c', 'agent {session}'],
  ['powershell', '/Comm', 'agent {session}'],
  ['python', '-c', 'print("{session}")'],
  ['python3.12', '-I', '-W', 'ignore', '-c', 'print("{session}")'],
  ['/usr/bin/python3', '-cprint("{session}")'],
  ['node', '-e', 'x("{session}")'],
  ['node', '--eval=x("{session}")'],
  ['node', '--eval', 'x("{session}")'],
  ['node', '-p', '"{session}"'],
  ['node', '-r', './x.js', '-pe', '"{session}"'],
  ['bun', '-e', '"{session}"'],
  ['deno', 'eval', '"{session}"'],
  ['perl', '-e', 'print "{session}"'],
  ['perl', '-MJSON', '-ne', 'print "{session}"'],
  ['ruby', '-e', 'p "{session}"'],
  ['php', '-r', 'echo "{session}";'],
  ['lua5.4', '-e', 'print("{session}")'],
  ['osascript', '-e', 'say "{session}"'],
  ['ssh', 'box', 'agent {session}'],
  ['ssh', '-p', '22', 'box', 'agent', '--session', '{session}'],
  ['sshpass', '-e', 'ssh', 'box', 'agent', '{session}'],
  ['awk', 'BEGIN { print "{session}" }'],
  ['sed', '-n', 's/x/{session}/'],
  ['jq', '-r', '.x == "{session}"'],
];

describe('a placeholder in code is rejected', () => {
  for (const command of REFUSED) {
    test(command.join(' '), () => {
      const [found = '', ...more] = rulesOf(command);
      assert.match(found, /^shell-placeholder: .*HOOKWRIGHT_(?:SESSION|ROUTE|PROFILE)/);
      assert.deepEqual(more, []);
    });
  }
});

const TAKEN: readonly (readonly [...string[]])[] = [
  ['my-agent', '--session', '{session}'],
  ['sh', '-c', 'agent --session "$1"', 'sh', '{session}'],
  ['sh', '-c', 'agent --session "$HOOKWRIGHT_SESSION"'],
  ['sh', 'agent.sh', '-c', '{session}'],
  ['python3', 'agent.py', '-c', '{profile}.toml', '{session}'],
  ['python3', '-m', 'agent', '-c', '{route}'],
  ['python3', '-c', 'import agent; agent.main()', '{session}'],
  ['node', '--import', 'tsx', 'agent.ts', '-e', '{session}'],
  ['node', '-e', 'require("./agent")', '{session}'],
  ['flock', '/tmp/lock', 'my-agent', '-c', '{session}'],
  ['my-agent', '--mode', 'watch', '{session}'],
  ['powershell', '-File', 'agent.ps1', '{session}'],
  ['env', 'A=b', 'my-agent', '{session}'],
  ['timeout', '60', 'my-agent', '{session}'],
];

describe('a placeholder in an argument without code is accepted', () => {
  for (const command of TAKEN) test(command.join(' '), () => assert.deepEqual(rulesOf(command), []));
});

test("a profile's agent is checked, too", () => {
  const files = {
    'hookwright.yaml': `${ROUTES}\ngateway: { multiplex_profiles: true }\n`,
    '~/.hookwright/profiles/ops/config.yaml': 'agent: { command: [sh, -c, "agent {session}"] }\n',
  };
  const { diagnostics } = compileFiles(files);
  assert.deepEqual(
    diagnostics.map(({ rule, source }) => [rule, source.name]),
    [['shell-placeholder', '/home/user/.hookwright/profiles/ops/config.yaml']],
  );
});

describe('session ids', () => {
  test('ordinary ids stay unchanged', () => {
    const id = '72d3162e-cc78-11e3-81ab-4c9367dc0958';
    assert.equal(sessionId('webhook', 'pulls', id), `webhook:pulls:${id}`);
    assert.equal(sessionId('job', 'a@2026-01-01T00:30:00.000Z'), 'job:a@2026-01-01T00:30:00.000Z');
    assert.equal(sessionId('a/b+c=d,e_f'), 'a/b+c=d,e_f');
  });

  test('everything else is percent-encoded UTF-8', () => {
    assert.equal(sessionId('a b;c%d'), 'a%20b%3Bc%25d');
    assert.equal(sessionId('$(id)`'), '%24%28id%29%60');
    assert.equal(sessionId('ü😀\0\n'), '%C3%BC%F0%9F%98%80%00%0A');
    assert.equal(sessionId('~*?[!#\'"\\'), '%7E%2A%3F%5B%21%23%27%22%5C');
  });

  test('are inert and distinct for any texts', () => {
    const property = fc.property(fc.string({ unit: 'binary' }), (text) => {
      const id = sessionId('webhook', 'a', text);
      assert.match(id, /^webhook:a:[A-Za-z0-9._:/@+=,%-]*$/);
      assert.equal(decodeURIComponent(id), `webhook:a:${text}`);
    });
    fc.assert(property, { numRuns: runsOf(500) });
    assert.equal(sessionId('\ud800'), '%ED%A0%80');
  });

  test('contain the delivery id of a request', async (t) => {
    const { post, dispatcher } = await serve(t, { routes: { ci: {} } });
    await post('/webhooks/ci', {}, { 'x-github-event': 'push', 'x-github-delivery': '$(id);%20' });
    assert.equal(dispatcher.handed[0]?.dispatch.session, 'webhook:ci:%24%28id%29%3B%2520');
    assert.equal(dispatcher.handed[0]?.dispatch.delivery_id, '$(id);%20');
  });

  test('pasted into a shell without quotes, an id is one word', () => {
    const ids = [
      '$(touch x)',
      '`id`',
      'a; id',
      'a|id',
      '*',
      '~root',
      '{a,b}',
      '!x',
      '#x',
      'a\nid',
      "'",
      '"',
      '\\',
      '&&',
    ];
    const sessions = ids.map((id) => sessionId('webhook', 'a', id));
    const printed = execFileSync('sh', ['-c', `printf '%s\\n' ${sessions.join(' ')}`], { encoding: 'utf8' });
    assert.deepEqual(printed.trimEnd().split('\n'), sessions);
  });
});
