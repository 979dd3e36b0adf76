/** Tests which agents expand words in untrusted text, and the settings that stop them. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { stringify } from 'yaml';
import { applyStrict } from '../../../../compiler/diagnostics/diagnostic.ts';
import { compileFiles, printed } from '../../../helpers/compile.ts';
import { sampleOf } from '../../../helpers/sample.ts';

interface Case {
  readonly agent: Readonly<Record<string, unknown>>;
  readonly gateway?: Readonly<Record<string, unknown>>;
  readonly route?: Readonly<Record<string, unknown>>;
  readonly subscription?: Readonly<Record<string, unknown>>;
}

const findings = (rule: string, { agent, gateway = {}, route = {}, subscription }: Case) => {
  const triage = { source: 'github', events: ['issues'], prompt: 'Label this: {issue.title}', ...route };
  const webhook = { enabled: true, secret: 'env:WEBHOOK_SECRET', routes: { triage } };
  const config = { gateway, platforms: { webhook }, agent: { confined: 'It has no tools.', ...agent } };
  const result = compileFiles({
    'hookwright.yaml': stringify(config),
    '~/.hookwright/skills/triage/SKILL.md': '',
    ...(subscription === undefined
      ? {}
      : { '~/.hookwright/webhook_subscriptions.json': JSON.stringify({ mine: subscription }) }),
  });
  assert.notEqual(result.output, null, printed(result));
  return result.diagnostics.filter((each) => each.rule === rule);
};

const found = (input: Case) => findings('agent-expands-text', input);

const SAFE = { CLAUDE_CODE_DISABLE_ATTACHMENTS: '1' };
const settings = (value: unknown): readonly string[] => ['claude', '-p', '--settings', JSON.stringify(value)];

/** Commands that drop the variables of the agent. */
const DROPPING: readonly (readonly string[])[] = [
  ['env', '--ignore-env', 'claude', '-p'],
  ['env', '-iv', 'claude', '-p'],
  ['env', '--uns', 'CLAUDE_CODE_DISABLE_ATTACHMENTS', 'claude', '-p'],
  ['bwrap', '--clearenv', 'claude', '-p'],
  ['bwrap', '--unsetenv', 'CLAUDE_CODE_DISABLE_ATTACHMENTS', 'claude', '-p'],
  ['bwrap', '--setenv', 'CLAUDE_CODE_DISABLE_ATTACHMENTS', '0', 'claude', '-p'],
  ['pkexec', '--user', 'agent', 'claude', '-p'],
  ['run0', 'claude', '-p'],
  ['machinectl', 'shell', 'agent@box', '/usr/bin/claude', '-p'],
  ['lxc', 'exec', 'box', '--', 'claude', '-p'],
  ['lxc-attach', '-n', 'box', '--', 'claude', '-p'],
  ['wsl', '--', 'claude', '-p'],
  ['wsl.exe', '-d', 'Debian', 'claude', '-p'],
  ['limactl', 'shell', 'box', 'claude', '-p'],
  ['multipass', 'exec', 'box', '--', 'claude', '-p'],
  ['oc', 'exec', 'pod', '--', 'claude', '-p'],
  ['podman-remote', 'exec', 'box', 'claude', '-p'],
  ['docker-compose', 'exec', '-T', 'box', 'claude', '-p'],
];

/** Code that may remove a variable in ways that are not analysed. */
const UNFOLLOWED: readonly string[] = [
  ...['declare', 'typeset', 'readonly', 'local'].map((word) => `${word} CLAUDE_CODE_DISABLE_ATTACHMENTS=0`),
  ...['eval "$x"', 'source ./x', '. ./x', 'X=1 . ./x', 'read CLAUDE_CODE_DISABLE_ATTACHMENTS'],
  'for CLAUDE_CODE_DISABLE_ATTACHMENTS in 0; do true; done',
  'export -n CLAUDE_CODE_DISABLE_ATTACHMENTS',
  ...['export $(cat x)', 'export $x', 'true ${X:+y}', 'trap "$x" DEBUG', 'alias claude="env -i claude"', 'set +a'],
  ...['command unset CLAUDE_CODE_DISABLE_ATTACHMENTS', 'CLAUDE_CODE_DISABLE_ATTACHMENTS+=0', 'exec -c claude -p'],
];

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
    // An option that is the value of another option, or is in another command.
    ['claude', '-p', '--append-system-prompt', '--bare'],
    ['claude', '-p', '--append-system-prompt', 'never use --bare'],
    ['sh', '-c', 'claude -p --append-system-prompt "never use --bare"'],
    ['sh', '-c', 'claude -p | tee --bare'],
    ['sh', '-c', 'claude -p && echo --bare'],
    ['sh', '-c', 'claude -p\necho --bare'],
    // A variable that does not reach the program.
    ['sh', '-c', 'CLAUDE_CODE_DISABLE_ATTACHMENTS=1; claude -p'],
    ['sh', '-c', 'CLAUDE_CODE_DISABLE_ATTACHMENTS=1 cat | claude -p'],
    ['sh', '-c', 'echo CLAUDE_CODE_DISABLE_ATTACHMENTS=1 && claude -p'],
    ['sh', '-c', 'export CLAUDE_CODE_DISABLE_ATTACHMENTS=1 | claude -p'],
    ['sh', '-c', 'false && export CLAUDE_CODE_DISABLE_ATTACHMENTS=1; claude -p'],
    ['sh', '-c', '(export CLAUDE_CODE_DISABLE_ATTACHMENTS=1); claude -p'],
    ['sh', '-c', 'if false; then export CLAUDE_CODE_DISABLE_ATTACHMENTS=1; fi; claude -p'],
    ['sh', '-c', 'cat <<E\nexport CLAUDE_CODE_DISABLE_ATTACHMENTS=1\nE\nclaude -p'],
    ['sh', '-c', 'export CLAUDE_CODE_DISABLE_ATTACHMENTS=1; unset CLAUDE_CODE_DISABLE_ATTACHMENTS; claude -p'],
    ['sh', '-c', 'export CLAUDE_CODE_DISABLE_ATTACHMENTS=1; CLAUDE_CODE_DISABLE_ATTACHMENTS=0; claude -p'],
    ['sh', '-c', 'export CLAUDE_CODE_DISABLE_ATTACHMENTS=1; env -u CLAUDE_CODE_DISABLE_ATTACHMENTS claude -p'],
    ['sh', '-c', 'export CLAUDE_CODE_DISABLE_ATTACHMENTS=1; sudo -u agent claude -p'],
    ['my-agent', 'CLAUDE_CODE_DISABLE_ATTACHMENTS=1', 'claude', '-p'],
    // Also inside shell code.
    ['sh', '-c', 'x=$(claude -p); echo "$x"'],
    ['sh', '-c', 'echo "$(claude -p)"'],
    ['sh', '-c', 'echo `claude -p`'],
    ['sh', '-c', 'if true; then claude -p; fi'],
    ['sh', '-c', 'cl"au"de -p'],
    ['sh', '-c', 'sudo sh -c "claude -p"'],
    ['python3', '-c', 'import subprocess; subprocess.run(["claude", "-p"])'],
    // After other programs.
    ['npm', 'exec', '--', 'claude', '-p'],
    ['npm', 'exec', '-y', 'claude', '-p'],
    ['pnpm', 'exec', 'claude', '-p'],
    ['bun', 'x', 'claude', '-p'],
    ['runuser', '-u', 'a', '--', 'claude', '-p'],
    ['su', '-', 'agent', '-c', 'claude -p'],
    ['xvfb-run', '-a', 'claude', '-p'],
    ['op', 'run', '--', 'claude', '-p'],
    ['doppler', 'run', '--', 'claude', '-p'],
    ['direnv', 'exec', '.', 'claude', '-p'],
    ['mise', 'x', 'node@22', '--', 'claude', '-p'],
    ['a-wrapper', '--', 'claude'],
    ['a-wrapper', 'claude', '-p'],
    ['sudo', '-n', 'claude', '-p'],
    ['env', '-i', 'claude', '-p'],
    ['ssh', '-T', 'box', 'claude', '-p'],
    ['ssh', 'box', 'cd /srv && claude -p'],
    ['docker', 'exec', '-i', 'box', 'claude', '-p'],
    ['docker', 'run', '-i', '--entrypoint', 'claude', 'my-image', '-p'],
    ['kubectl', 'exec', '-i', 'pod', '--', 'claude', '-p'],
    ['node', '--no-warnings', '/srv/node_modules/@anthropic-ai/claude-code/cli.js', '-p'],
    ['find', '/srv', '-name', '*.md', '-exec', 'claude', '-p', '{}', ';'],
    ['npx', '-c', 'claude -p'],
    ['npx', '--call', 'claude -p'],
    ['/opt/bin/claude-2.1.197', '-p'],
    ['gosu', 'agent', 'claude', '-p'],
    ['chroot', '/srv/box', 'claude', '-p'],
    ['tmux', 'new', '-d', 'claude -p'],
    ['flatpak-spawn', '--host', 'claude', '-p'],
    // Code that is not analysed.
    ['sh', '-c', 'for a in --append-system-prompt; do claude $a --bare; done'],
    ['sh', '-c', 'claude $(cat options) --bare'],
    ['sh', '-c', 'env ${X:+ CLAUDE_CODE_DISABLE_ATTACHMENTS=1 } claude -p'],
    ['sh', '-c', 'command cd /srv; gemini'],
    ['sh', '-c', '. ./x; gemini'],
    ['sh', '-c', 'find . -execdir gemini \\;'],
    // Folders other than the run's.
    ['sh', '-c', 'cd /srv/p && gemini'],
    ['env', '-C', '/srv', 'gemini'],
    ['gemini', '--include-directories', '/srv'],
    ['gemini', '--include-directories=/srv'],
    ['ssh', 'box', 'gemini'],
  ];
  for (const command of sampleOf(commands)) {
    test(JSON.stringify(command), () => assert.equal(found({ agent: { command } }).length, 1));
  }

  const agents: Readonly<Record<string, Case>> = {
    'a variable that is off': { agent: { command: ['claude'], env: { CLAUDE_CODE_DISABLE_ATTACHMENTS: '0' } } },
    'a variable that is not known': { agent: { command: ['claude'], env: { CLAUDE_CODE_SIMPLE: 'env:SIMPLE' } } },
    'a variable that sudo drops': { agent: { command: ['sudo', '-u', 'agent', 'claude', '-p'], env: SAFE } },
    ...Object.fromEntries(DROPPING.map((command) => [command.join(' '), { agent: { command, env: SAFE } }])),
    ...Object.fromEntries(
      UNFOLLOWED.flatMap((code) => {
        const set = `export CLAUDE_CODE_DISABLE_ATTACHMENTS=1; ${code}; claude -p`;
        return [
          [`${code}, after the variable`, { agent: { command: ['bash', '-c', set] } }],
          [
            `${code}, with the variable of the agent`,
            { agent: { command: ['bash', '-c', `${code}; claude -p`], env: SAFE } },
          ],
        ];
      }),
    ),
    'marked text': { agent: { command: ['claude', '-p'] }, route: { untrusted: 'mark' } },
    'an accepted risk': { agent: { command: ['claude', '-p'] }, route: { accept_untrusted: 'It has no tools.' } },
    'Gemini CLI in another folder': { agent: { command: ['gemini'], cwd: '/srv/project' } },
    'Gemini CLI in the folder of a route': { agent: { command: ['gemini'], work: 'route' } },
    'Gemini CLI in a sandbox with a folder': { agent: { command: ['gemini'], cwd: '/srv/p', sandbox: {} } },
    'a variable that env removes': {
      agent: { command: ['env', '-u', 'CLAUDE_CODE_DISABLE_ATTACHMENTS', 'claude', '-p'], env: SAFE },
    },
    'a variable that env drops': { agent: { command: ['env', '-i', 'claude', '-p'], env: SAFE } },
    'a variable that settings replace': {
      agent: { command: settings({ env: { CLAUDE_CODE_DISABLE_ATTACHMENTS: '0' } }), env: SAFE },
    },
    'Qwen Code in a shared folder': { agent: { command: ['npx', '@qwen-code/qwen-code'], work: 'shared' } },
  };
  for (const [name, input] of sampleOf(Object.entries(agents))) {
    test(name, () => assert.equal(found(input).length, 1));
  }

  const forms = [
    ...['~', '~/', '/', '/home', '/home/me', '/root/', '~/.hookwright', '/Users/me'],
    ...['~/./', '/home/user/.', '//home/user', '/home/../home/user', '/./', '/srv/../root'],
    ...['~/.ssh', '~/.hookwright/.env', '/home/user/.hookwright/profiles/a', '/home/me/x', '~/.claude/../.ssh'],
    ...['/tmp', '/run/secrets', '/srv/app/.env'],
  ];
  for (const path of sampleOf(forms)) {
    test(`a sandbox that opens ${path}`, () => {
      const command = ['claude', '-p'];
      const [own] = found({ agent: { command, sandbox: { read: [path] } } });
      assert.match(own?.hint ?? '', /`[~/]/);
      assert.equal(found({ agent: { command }, gateway: { sandbox: { write: [path] } } }).length, 1);
      assert.equal(found({ agent: { command, sandbox: {}, cwd: path } }).length, 1);
    });
  }
});

for (const cwd of ['.', '../..', 'x/..', 'agent']) {
  test(`reports a sandbox that opens the folder ${cwd} of the home`, () => {
    assert.equal(found({ agent: { command: ['claude', '-p'], sandbox: {}, cwd } }).length, 1);
  });
}

describe('does not report', () => {
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
    ['gemini', '-m', 'x'],
    ['sh', '-c', 'gemini --skip-trust'],
    ['timeout', '60', 'llm', '-m', 'claude'],
    ['sh', '-c', 'llm -m claude'],
    ['my-agent', '--provider', 'claude'],
    ['docker', 'exec', '-i', 'claude', 'my-agent'],
    ['docker', 'exec', 'claude', 'my-agent'],
    ['docker', 'compose', 'exec', '-T', 'claude', 'my-agent'],
    ['ssh', 'claude', 'my-agent'],
    ['my-agent', 'claude'],
    ['runuser', '-u', 'claude', '--', 'my-agent'],
    ['sh', '-c', 'cd ~/claude && my-agent'],
    ['sh', '-c', 'my-agent < /srv/claude'],
    ['sh', '-c', 'my-agent --print # claude -p'],
    ['docker', 'run', '-i', '--env=CLAUDE_CODE_DISABLE_ATTACHMENTS=1', 'my-image', 'claude', '-p'],
    ['docker', 'run', '-i', '-eCLAUDE_CODE_DISABLE_ATTACHMENTS=1', 'my-image', 'claude', '-p'],
    ['sh', '-c', `claude -p --settings '{"permissions":{"deny":["Read(//**)"]}}'`],
    ['sh', '-c', 'claude -p --bare "$(cat)"'],
    ['sh', '-c', 'read line; env CLAUDE_CODE_DISABLE_ATTACHMENTS=1 claude -p "$line"'],
    ['sh', '-c', 'set -euo pipefail; export CLAUDE_CODE_DISABLE_ATTACHMENTS=1; claude -p "read this"'],
    ['gosu', 'claude', 'my-agent'],
    ['npx', '-c', 'claude --bare -p'],
    ['sh', '-c', 'set -e; export CLAUDE_CODE_DISABLE_ATTACHMENTS=1; exec claude -p'],
    ['sh', '-c', 'cd /srv && export CLAUDE_CODE_DISABLE_ATTACHMENTS=1 && claude -p'],
    ['ssh', 'box', 'CLAUDE_CODE_DISABLE_ATTACHMENTS=1 claude -p'],
    ['su', '-', 'agent', '-c', 'claude --bare -p'],
    ['claude', '-p', '--model', 'opus', '--bare'],
    ['npm', 'exec', '--', 'claude', '--bare', '-p'],
  ];
  for (const command of sampleOf(commands)) {
    test(JSON.stringify(command), () => assert.deepEqual(found({ agent: { command } }), []));
  }

  const agents: Readonly<Record<string, Case>> = {
    'a variable that is on': { agent: { command: ['claude', '-p'], env: SAFE } },
    'a sandbox of the agent': { agent: { command: ['claude', '-p'], sandbox: { read: ['~/.claude', '/srv/x'] } } },
    'a folder outside of homes': {
      agent: { command: ['claude', '-p'], sandbox: { write: ['~/.claude/'] }, cwd: '/srv/p' },
    },
    'a variable that docker passes on': {
      agent: { command: ['docker', 'run', '-e', 'CLAUDE_CODE_DISABLE_ATTACHMENTS', 'i', 'claude', '-p'], env: SAFE },
    },
    'a variable behind a shell': { agent: { command: ['sh', '-c', 'cd /srv; claude -p'], env: SAFE } },
    'a sandbox of the gateway': { agent: { command: ['claude', '-p'] }, gateway: { sandbox: { network: 'any' } } },
    'text that no outsider writes': { agent: { command: ['claude', '-p'] }, route: { prompt: '{issue.number}' } },
    'a trusted author': {
      agent: { command: ['claude', '-p'] },
      route: { filters: [{ field: 'issue.user.login', equals: 'ada' }] },
    },
  };
  for (const [name, input] of sampleOf(Object.entries(agents))) {
    test(name, () => assert.deepEqual(found(input), []));
  }
});

test('is an error with --strict, and has no fix', () => {
  const [diagnostic] = applyStrict(found({ agent: { command: ['claude', '-p'] } }));
  assert.equal(diagnostic?.severity, 'error');
  assert.equal(diagnostic?.fix, undefined);
  assert.match(diagnostic?.hint ?? '', /`env: \{ CLAUDE_CODE_DISABLE_ATTACHMENTS: "1" \}`/);
});

describe('the hint names a working remedy', () => {
  const hintOf = (agent: Case['agent']) => found({ agent })[0]?.hint ?? '';
  for (const command of [
    ['sudo', 'claude', '-p'],
    ['docker', 'run', 'i', 'claude', '-p'],
    ['ssh', 'box', 'claude', '-p'],
    ['su', 'agent', '-c', 'claude -p'],
    ['env', '-i', 'claude', '-p'],
  ]) {
    test(`after ${command.join(' ')}`, () => {
      assert.match(hintOf({ command }), /`env CLAUDE_CODE_DISABLE_ATTACHMENTS=1 claude`.*`--bare`/);
    });
  }

  test('for Gemini CLI', () => {
    assert.match(hintOf({ command: ['gemini'], cwd: '/srv' }), /`--include-directories`[^.`]*$/);
  });
});

describe('a subscription', () => {
  const route = { prompt: 'Number {issue.number}' };
  const subscription = { source: 'github', events: ['issue_comment'], prompt: 'x {comment.body}' };
  const command = ['claude', '-p', '--tools', ''];

  test('is checked by the rules of its agent', () => {
    const [diagnostic, ...others] = found({ agent: { command }, route, subscription });
    assert.match(diagnostic?.message ?? '', /`mine`/);
    assert.deepEqual(others, []);
    assert.equal(
      findings('agent-unconfined', { agent: { command, confined: undefined }, route, subscription }).length,
      1,
    );
    assert.equal(findings('kept-work-folder', { agent: { command, work: 'route' }, route, subscription }).length, 1);
  });

  test('is not checked if it is rejected, disabled or run by another agent', () => {
    for (const change of [{ promt: 'x' }, { enabled: false }, { agent: 'none' }, { prompt: 'x' }])
      assert.deepEqual(found({ agent: { command }, route, subscription: { ...subscription, ...change } }), []);
  });

  test('is checked as a prompt', () => {
    assert.equal(
      found({ agent: { command: ['claude', '--bare'] }, subscription: { ...subscription, prompt: '{comment.body}' } })
        .length,
      1,
    );
  });
});

describe('a prompt that begins with untrusted text', () => {
  const begins = (route: NonNullable<Case['route']>, command: readonly string[] = ['claude', '--bare', '-p']) =>
    found({ agent: { command }, route }).length;

  test('is reported for any form of the program', () => {
    assert.equal(begins({ prompt: '{issue.title}' }), 1);
    assert.equal(begins({ prompt: '{issue.title}' }, ['gemini']), 1);
  });

  test('is reported after `/`, and after a skill, which may be empty', () => {
    assert.equal(begins({ prompt: '/{issue.title}' }), 1);
    assert.equal(begins({ prompt: '/review {issue.title}' }), 1);
    assert.equal(begins({ prompt: '/review {issue.number}' }), 0);
    assert.equal(begins({ prompt: '{issue.title}', skills: ['missing'] }), 1);
    assert.equal(begins({ prompt: '{issue.title}', skills: ['triage'] }), 1);
  });

  test('is not reported after fixed words or the markers', () => {
    const routes = [
      { prompt: 'Read this: {issue.title}' },
      { prompt: '{issue.number}: {issue.title}' },
      { prompt: '{issue.title}', untrusted: 'mark' },
      { prompt: undefined },
    ];
    for (const route of routes) assert.equal(begins(route), 0, JSON.stringify(route));
    assert.equal(begins({ prompt: '{issue.title}' }, ['codex', 'exec', '-']), 0);
  });
});
