import assert from 'node:assert/strict';
import { readdirSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { describe, it } from 'node:test';
import type { AgentRequest } from '../../../../runtime/dispatch/agent-runner.ts';
import { AgentError } from '../../../../runtime/dispatch/agent-runner.ts';
import { createCommandAgent } from '../../../../runtime/dispatch/agents/command.ts';
import { WorkFolders } from '../../../../runtime/dispatch/agents/work-folders.ts';
import { systemClock } from '../../../../runtime/platform/clock.ts';
import { silentLog } from '../../../../runtime/platform/log.ts';
import { runProcess } from '../../../../runtime/platform/process/run-process.ts';
import type { ProgramEnd } from '../../../../runtime/store/states.ts';
import type { Usage } from '../../../../runtime/store/usage.ts';
import type { CommandAgentPlan } from '../../../../schemas/generated/types.ts';
import { tempDir } from '../../../helpers/temp-dir.ts';

const request = (overrides: Partial<AgentRequest> = {}): AgentRequest => ({
  prompt: 'the prompt',
  toolsets: ['web_search', 'clarify'],
  skills: ['triage', 'tone'],
  session: 'webhook:alerts:7',
  profile: 'default',
  route: 'alerts',
  event: 'push',
  delivery_id: '7',
  signal: new AbortController().signal,
  ...overrides,
});

function agent(
  t: TestContext,
  argv: readonly string[],
  overrides: {
    timeout?: number;
    env?: Record<string, string>;
    work?: CommandAgentPlan['work'];
    plan?: Partial<CommandAgentPlan>;
  } = {},
) {
  const folder = realpathSync(tempDir(t));
  const plan: CommandAgentPlan = {
    kind: 'command',
    argv: [...argv],
    cwd: null,
    work: overrides.work ?? 'run',
    env: { OWN_KEY: { kind: 'env', value: 'KEY', scope: 'default' } },
    only_to: {},
    sandbox: null,
    timeout_seconds: overrides.timeout ?? 5,
    max_attempts: 1,
    max_concurrent: null,
    toolsets: null,
    ...overrides.plan,
  };
  const runner = createCommandAgent(plan, {
    confine: () => (process) => runProcess(process, { clock: systemClock, home: folder }),
    others: [],
    written: [],
    env: {
      PATH: process.env.PATH,
      HOME: '/home/operator',
      UNNAMED: 's3cr3t-value',
      HTTPS_PROXY: 'http://proxy:3128',
      LC_ALL: 'C',
      TOKEN: 's3cr3t-value',
      ...overrides.env,
    },
    hidden: new Set(['TOKEN']),
    secrets: { resolve: () => 'of the agent' },
    home: '/the/home',
    folder,
    workFolders: new WorkFolders(silentLog),
    clock: systemClock,
    redact: (text) => text.replaceAll(/s3cr3t-\n?value/g, '***'),
  });
  return { runner, folder };
}

const sh = (script: string): string[] => ['/bin/sh', '-c', script];

describe('command agent', () => {
  it('reads the prompt from stdin and returns its output', async (t) => {
    const { runner } = agent(t, ['cat']);
    const prompt = `${'é😀'.repeat(50_000)}\nlast line`;
    assert.equal(await runner.run(request({ prompt })), prompt);
  });

  it('refuses a value that would be an option of the program', async (t) => {
    for (const session of ['--dangerously=1', '-x', '-']) {
      const { runner, folder } = agent(t, ['printf', '%s', '{session}']);
      await assert.rejects(runner.run(request({ session })), AgentError);
      const outputs = { tools: [], take: () => {}, refuse: () => {} };
      await assert.rejects(runner.run(request({ session, outputs })), AgentError);
      assert.deepEqual(readdirSync(join(folder, 'work', 'runs')), [], 'its folders are removed');
      for (const argv of [
        ['printf', '%s', 'a{session}'],
        ['printf', '%s', '--session={session}'],
      ]) {
        const answer = await agent(t, argv).runner.run(request({ session }));
        assert.ok(answer.endsWith(session));
      }
    }
    await assert.rejects(agent(t, ['printf', '{toolsets}']).runner.run(request({ toolsets: ['--x'] })), AgentError);
    await assert.rejects(agent(t, ['printf', '{route}{session}']).runner.run(request({ route: '-r' })), AgentError);
  });

  it('fills placeholders inside its arguments, once, and leaves other braces alone', async (t) => {
    const argv = ['printf', '%s|', '--tools={toolsets}', '{session}', '{route}/{profile}', '{prompt}', '{{route}}'];
    const { runner } = agent(t, argv);
    const answer = await runner.run(request({ session: 'webhook:alerts:{route}' }));
    assert.equal(answer, '--tools=web_search,clarify|webhook:alerts:{route}|alerts/default|{prompt}|{alerts}|');
  });

  it('gets the allowed variables of the environment, those of agent.env, and our variables', async (t) => {
    const { runner, folder } = agent(t, sh('env; pwd'));
    const lines = (await runner.run(request({ delivery_id: 'a\0b' }))).split('\n');
    for (const line of [
      'HOME=/home/operator',
      'OWN_KEY=of the agent',
      'HOOKWRIGHT_HOME=/the/home',
      'HOOKWRIGHT_ROUTE=alerts',
      'HOOKWRIGHT_EVENT=push',
      'HOOKWRIGHT_DELIVERY_ID=ab',
      'HOOKWRIGHT_PROFILE=default',
      'HOOKWRIGHT_SESSION=webhook:alerts:7',
      'HOOKWRIGHT_TOOLSETS=web_search,clarify',
      'HOOKWRIGHT_SKILLS=triage,tone',
      'HTTPS_PROXY=http://proxy:3128',
      'LC_ALL=C',
    ]) {
      assert.ok(lines.includes(line), `${line} in ${lines.join(' ')}`);
    }
    assert.ok(lines.some((line) => line.startsWith(join(folder, 'work', 'runs'))));
    assert.ok(!lines.some((line) => line.includes('s3cr3t-value')));
  });

  const failures: readonly [string, readonly string[], RegExp][] = [
    ['a nonzero exit', sh('exit 3'), /^\/bin\/sh .*\b3$/],
    [
      'what it printed last, if nothing is in stderr',
      sh('echo first; echo "no quota"; echo " " >&2; exit 3'),
      /: no quota$/,
    ],
    ['stderr rather than stdout', sh('echo partial; echo "no quota" >&2; exit 3'), /: no quota$/],
    ['no line of a secret that it printed', sh('printf "s3cr3t-\nvalue\n"; exit 3'), /: \*\*\*$/],
    ['what it said last', sh('echo first >&2; echo "no quota left" >&2; exit 1'), /\b1: no quota left$/],
    ['a signal', sh('kill -9 $$'), /\bSIGKILL\b/],
    ['a program that is not there', ['/nowhere/agent'], /^\/nowhere\/agent .*\bENOENT$/],
    ['too much output', ['yes'], /\b1048576\b/],
    [
      'a secret in its last words',
      sh('echo "key s3cr3t-value\u001b[31m refused" >&2; exit 1'),
      /key \*\*\*\ufffd\[31m refused$/,
    ],
  ];
  for (const [what, argv, message] of failures) {
    it(`reports ${what}`, async (t) => {
      await assert.rejects(
        agent(t, argv).runner.run(request()),
        (error) => error instanceof AgentError && message.test(error.message),
      );
    });
  }

  describe('stores what a failed program printed', () => {
    const endOf = async (t: TestContext, argv: readonly string[], plan: Partial<CommandAgentPlan> = {}) => {
      const ends: ProgramEnd[] = [];
      const running = agent(t, argv, { plan }).runner.run(request(), {
        ended: (end) => void ends.push(end),
        used() {},
      });
      const reason = await running.then(
        () => null,
        (error: Error) => error.message,
      );
      return { stdout: ends[0]?.stdout, stderr: ends[0]?.stderr, reason };
    };

    it('if it wrote nothing to stderr, without secrets', async (t) => {
      const { stdout } = await endOf(t, sh('echo first; echo "key s3cr3t-value"; exit 1'));
      assert.equal(stdout, 'first\nkey ***');
    });

    it('not if it wrote to stderr, or has answered', async (t) => {
      assert.deepEqual(await endOf(t, sh('echo a; echo b >&2; exit 1')), {
        ...{ stdout: undefined, stderr: 'b\n', reason: '/bin/sh exited with 1: b' },
      });
      assert.deepEqual(await endOf(t, sh('echo a')), { stdout: undefined, stderr: '', reason: null });
    });

    it('until a timeout or too much output', async (t) => {
      const late = await endOf(t, sh('echo begun; sleep 5'), { timeout_seconds: 0.3 });
      assert.equal(late.stdout, 'begun');
      const { stdout = '' } = await endOf(t, ['yes', 'again']);
      assert.ok(stdout.length > 65_000 && Buffer.byteLength(stdout) <= 65_536 && stdout.includes('again\nagain'));
    });

    it('without the answer that is expected, and with its reason if that is in the JSON', async (t) => {
      const plan = { answer_path: ['result'] };
      const missing = await endOf(t, sh(`echo '{"other":1}'`), plan);
      assert.equal(missing.stdout, '{"other":1}');
      const failed = await endOf(t, sh(`echo '{"is_error":true,"result":"Invalid s3cr3t-value"}'; exit 1`), plan);
      assert.match(failed.reason ?? '', /: Invalid \*\*\*$/);
      assert.equal(failed.stdout, '{"is_error":true,"result":"Invalid ***"}');
    });
  });

  it('is killed with all its child processes when its time is over or it is stopped', async (t) => {
    const { runner } = agent(t, sh('sleep 5 & wait'), { timeout: 0.1 });
    await assert.rejects(runner.run(request()), /\b0\.1 s\b/);
    const stop = new AbortController();
    const stopped = agent(t, sh('sleep 5 & wait')).runner.run(request({ signal: stop.signal }));
    stop.abort();
    await assert.rejects(stopped, /was stopped/);
  });

  describe('reports its usage', () => {
    const paths = { input: [['usage', 'in']], output: [['usage', 'out']], cost: [['models', '*', 'usd']] };
    const told = async (t: TestContext, argv: readonly string[], plan: Partial<CommandAgentPlan> = {}) => {
      const used: Usage[] = [];
      const { runner, folder } = agent(t, argv, { plan });
      const answer = await runner
        .run(request(), { ended: () => {}, used: (usage) => void used.push(usage) })
        .catch((error: Error) => error.message);
      return { answer, used, folder };
    };
    const write = (text: string): string[] => sh(`printf '%s' '${text}' > "$HOOKWRIGHT_USAGE_FILE"; echo yes`);
    const files: readonly [string, string, Usage | null][] = [
      ['all', '{"input_tokens":12,"output_tokens":3,"cost":0.5}', { input_tokens: 12, output_tokens: 3, cost: 0.5 }],
      ['what it knows', '{"output_tokens":3,"x":1}', { input_tokens: null, output_tokens: 3, cost: null }],
      [
        'beside what cannot be',
        '{"input_tokens":"9","output_tokens":-1,"cost":2}',
        { input_tokens: null, output_tokens: null, cost: 2 },
      ],
      ['no number', '{"input_tokens":1.5,"output_tokens":1e99,"cost":"1"}', null],
      ['a list', '[1,2]', null],
      ['nothing', '', null],
      ['half of a file', '{"input_tokens":12', null],
    ];
    for (const [what, text, usage] of files) {
      it(`in the file: ${what}`, async (t) => {
        const { answer, used } = await told(t, write(text));
        assert.deepEqual([answer, used], ['yes\n', usage === null ? [] : [usage]]);
      });
    }

    it('not through a file that is not regular, or is too large', async (t) => {
      for (const made of ['mkdir', 'mkfifo', 'ln -s /dev/zero', 'head -c 100000 /dev/zero >']) {
        assert.deepEqual((await told(t, sh(`${made} "$HOOKWRIGHT_USAGE_FILE"; echo yes`))).used, [], made);
      }
    });

    it('also when it fails, and deletes the file', async (t) => {
      const script = sh('echo \'{"cost":1}\' > "$HOOKWRIGHT_USAGE_FILE"; exit 2');
      const { answer, used, folder } = await told(t, script, { work: 'shared' });
      assert.match(answer, /^\/bin\/sh .*\b2$/);
      assert.deepEqual(
        used.map(({ cost }) => cost),
        [1],
      );
      assert.deepEqual(readdirSync(join(folder, 'work', 'shared')), []);
    });

    const json = '{"result":"yes","usage":{"in":5,"out":2},"models":{"a":{"usd":1},"b.c":{"usd":0.5},"d":{}}}';
    it('in the JSON that it prints', async (t) => {
      const { answer, used } = await told(t, ['printf', json], { answer_path: ['result'], usage_paths: paths });
      assert.deepEqual([answer, used], ['yes', [{ input_tokens: 5, output_tokens: 2, cost: 1.5 }]]);
    });

    it('in JSON lines, by the last one that has it', async (t) => {
      const lines = '{"result":"no","usage":{"in":1}}\\n{"result":"yes"}\\nprogress\\n{"usage":{"in":7,"out":{}}}\\n';
      const { answer, used } = await told(t, ['printf', lines], { answer_path: ['result'], usage_paths: paths });
      assert.deepEqual([answer, used], ['yes', [{ input_tokens: 7, output_tokens: null, cost: null }]]);
    });

    it('and fails if the answer is not at its path', async (t) => {
      const { answer, used } = await told(t, ['printf', json], { answer_path: ['usage', 'in'], usage_paths: paths });
      assert.match(answer, /\bprintf\b.*\banswer_path\b.*usage\.in\b/);
      assert.equal(used.length, 1);
    });
  });

  it('may ignore its stdin', async (t) => {
    assert.equal(await agent(t, ['echo', 'hi']).runner.run(request({ prompt: 'x'.repeat(5_000_000) })), 'hi\n');
  });
});
