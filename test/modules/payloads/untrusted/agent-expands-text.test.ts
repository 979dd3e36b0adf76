/** Which agents act on words of untrusted text by themselves, and what stops them. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { stringify } from 'yaml';
import { applyStrict } from '../../../../compiler/diagnostics/diagnostic.ts';
import { compileFiles, printed } from '../../../helpers/compile.ts';

interface Case {
  readonly agent: Readonly<Record<string, unknown>>;
  readonly gateway?: Readonly<Record<string, unknown>>;
  readonly route?: Readonly<Record<string, unknown>>;
}

function found({ agent, gateway = {}, route = {} }: Case) {
  const triage = { source: 'github', events: ['issues'], prompt: 'Label this: {issue.title}', ...route };
  const webhook = { enabled: true, secret: 'env:WEBHOOK_SECRET', routes: { triage } };
  const config = { gateway, platforms: { webhook }, agent: { confined: 'It has no tools.', ...agent } };
  const result = compileFiles({
    'hookwright.yaml': stringify(config),
    '~/.hookwright/skills/triage/SKILL.md': 'Triage.',
  });
  assert.notEqual(result.output, null, printed(result));
  return result.diagnostics.filter(({ rule }) => rule === 'agent-expands-text');
}

const SAFE = { CLAUDE_CODE_DISABLE_ATTACHMENTS: '1' };
const settings = (value: unknown): readonly string[] => ['claude', '-p', '--settings', JSON.stringify(value)];

describe('reports a program that expands `@path`', () => {
  const commands: readonly (readonly string[])[] = [
    ['claude', '-p', '--tools', ''],
    ['claude', '-p', '--tools', '{toolsets}'],
    ['/usr/local/bin/claude', '-p'],
    ['C:\\tools\\claude.exe', '-p'],
    ['claude.cmd', '-p'],
    ['npx', '-y', '@anthropic-ai/claude-code', '-p'],
    ['bunx', '@anthropic-ai/claude-code@2.1.197', '-p'],
    ['pnpm', 'dlx', '@anthropic-ai/claude-code', '-p'],
    ['node', '/srv/node_modules/@anthropic-ai/claude-code/cli.js', '-p'],
    ['env', 'X=1', 'claude', '-p'],
    ['env', 'CLAUDE_CODE_DISABLE_ATTACHMENTS=0', 'claude', '-p'],
    ['timeout', '60', 'claude', '-p'],
    ['sudo', '-u', 'agent', 'claude', '-p'],
    ['sh', '-c', 'claude -p'],
    ['sh', '-c', 'claude -p # --bare'],
    ['bash', '-lc', 'cat | "claude" -p'],
    ['sh', '-c', 'claude -p; claude --bare -p'],
    ['claude', '-p', '--', '--bare'],
    ['claude', '-p', '--safe-mode', '--disable-slash-commands', '--disallowedTools', 'Read'],
    settings({ permissions: { deny: ['Read'] } }),
    [...settings({ permissions: { deny: ['Read(//**)'] } }), '--settings', '{}'],
    ['claude', '-p', '--settings', 'deny.json'],
  ];
  for (const command of commands) {
    test(JSON.stringify(command), () => assert.equal(found({ agent: { command } }).length, 1));
  }

  const agents: Readonly<Record<string, Case>> = {
    'a variable that is off': { agent: { command: ['claude'], env: { CLAUDE_CODE_DISABLE_ATTACHMENTS: '0' } } },
    'a variable that is not known': { agent: { command: ['claude'], env: { CLAUDE_CODE_SIMPLE: 'env:SIMPLE' } } },
    'a variable that sudo drops': { agent: { command: ['sudo', '-u', 'agent', 'claude', '-p'], env: SAFE } },
    'marked text': { agent: { command: ['claude', '-p'] }, route: { untrusted: 'mark' } },
    'an accepted risk': { agent: { command: ['claude', '-p'] }, route: { accept_untrusted: 'It has no tools.' } },
    'Gemini CLI in a folder of its own': { agent: { command: ['gemini'], cwd: '/srv/project' } },
    'Gemini CLI in the folder of a route': { agent: { command: ['gemini'], work: 'route' } },
    'Qwen Code in a shared folder': { agent: { command: ['npx', '@qwen-code/qwen-code'], work: 'shared' } },
  };
  for (const [name, input] of Object.entries(agents)) {
    test(name, () => assert.equal(found(input).length, 1));
  }

  for (const path of ['~', '~/', '/', '/home', '/home/me', '/root/', '~/.hookwright', '/Users/me']) {
    test(`a sandbox that opens ${path}`, () => {
      const command = ['claude', '-p'];
      const [own] = found({ agent: { command, sandbox: { read: [path] } } });
      assert.match(own?.hint ?? '', /opens the home$/);
      assert.equal(found({ agent: { command }, gateway: { sandbox: { write: [path] } } }).length, 1);
      assert.equal(found({ agent: { command, sandbox: {}, cwd: path } }).length, 1);
    });
  }
});

describe('leaves alone', () => {
  const commands: readonly (readonly string[])[] = [
    ['my-agent', '--model', 'claude'],
    ['sudo', '-u', 'claude', 'my-agent'],
    ['claude', '--bare', '-p'],
    ['npx', '-y', '@anthropic-ai/claude-code', '--bare', '-p'],
    ['env', 'CLAUDE_CODE_DISABLE_ATTACHMENTS=1', 'claude', '-p'],
    ['sudo', '-u', 'agent', 'env', 'CLAUDE_CODE_DISABLE_ATTACHMENTS=1', 'claude', '-p'],
    ['docker', 'run', '-i', '-e', 'CLAUDE_CODE_DISABLE_ATTACHMENTS=1', 'my-image', 'claude', '-p'],
    ['sh', '-c', 'CLAUDE_CODE_DISABLE_ATTACHMENTS="1" claude -p'],
    ['sh', '-c', 'claude --bare -p "$@"', 'sh', '--model', 'opus'],
    settings({ permissions: { deny: ['Read(//**)'] } }),
    ['gemini', '--skip-trust'],
    ['codex', 'exec', '-'],
  ];
  for (const command of commands) {
    test(JSON.stringify(command), () => assert.deepEqual(found({ agent: { command } }), []));
  }

  const agents: Readonly<Record<string, Case>> = {
    'a variable that is on': { agent: { command: ['claude', '-p'], env: SAFE } },
    'a sandbox of the agent': { agent: { command: ['claude', '-p'], sandbox: { read: ['~/.claude', '/home/me/x'] } } },
    'a sandbox of the gateway': { agent: { command: ['claude', '-p'] }, gateway: { sandbox: { network: 'any' } } },
    'text that nobody outside writes': { agent: { command: ['claude', '-p'] }, route: { prompt: '{issue.number}' } },
    'a trusted author': {
      agent: { command: ['claude', '-p'] },
      route: { filters: [{ field: 'issue.user.login', equals: 'ada' }] },
    },
  };
  for (const [name, input] of Object.entries(agents)) {
    test(name, () => assert.deepEqual(found(input), []));
  }
});

test('is an error with --strict, and has no fix', () => {
  const [diagnostic] = applyStrict(found({ agent: { command: ['claude', '-p'] } }));
  assert.equal(diagnostic?.severity, 'error');
  assert.equal(diagnostic?.fix, undefined);
  assert.match(diagnostic?.hint ?? '', /`env: \{ CLAUDE_CODE_DISABLE_ATTACHMENTS: "1" \}`/);
});

describe('a prompt that begins with untrusted text', () => {
  const begins = (route: NonNullable<Case['route']>, command: readonly string[] = ['claude', '--bare', '-p']) =>
    found({ agent: { command }, route }).length;

  test('is reported, of any form of the program', () => {
    assert.equal(begins({ prompt: '{issue.title}' }), 1);
    assert.equal(begins({ prompt: '{issue.title}' }, ['gemini']), 1);
  });

  test('is not reported behind words, a skill or the markers', () => {
    const routes = [
      { prompt: 'Read this: {issue.title}' },
      { prompt: '{issue.number}: {issue.title}' },
      { prompt: '{issue.title}', untrusted: 'mark' },
      { prompt: '{issue.title}', skills: ['triage'] },
      { prompt: undefined },
    ];
    for (const route of routes) assert.equal(begins(route), 0, JSON.stringify(route));
    assert.equal(begins({ prompt: '{issue.title}' }, ['codex', 'exec', '-']), 0);
  });
});
