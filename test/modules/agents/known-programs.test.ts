import assert from 'node:assert/strict';
import {
  chmodSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { describe, test } from 'node:test';
import type { ProcessRequest, ProcessResult } from '../../../runtime/platform/process/run-process.ts';
import { FakeClock } from '../../helpers/fake-clock.ts';
import { compileAgent, KEY, knownAgent } from '../../helpers/known-agent.ts';
import { claudeCode, claudeResult, codex, codexEnd, codexItem } from '../../helpers/program-doubles.ts';
import { tempDir } from '../../helpers/temp-dir.ts';

type Double = (request: ProcessRequest) => ProcessResult;

/** An agent whose program is the double; `seen` has what it was started with. */
function start(t: TestContext, use: string, double: Double, home = tempDir(t), clock = new FakeClock()) {
  const plan = compileAgent({ use, key: 'env:MODEL_KEY' });
  const seen: ProcessRequest[] = [];
  const confine = () => (request: ProcessRequest) => {
    seen.push(request);
    return Promise.resolve(double(request));
  };
  return { run: knownAgent(plan, { home, confine, clock }), seen, home, clock, plan };
}

const exit = (code: number, stdout: string, stderr = ''): ProcessResult => ({
  kind: 'exit',
  code,
  signal: null,
  stdout: Buffer.from(stdout),
  stderr,
});

describe('the answer of Claude Code', () => {
  test('is its result, and its usage the sum over models', async (t) => {
    const { run, seen } = start(t, 'claude-code', claudeCode());
    const { answer, usage } = await run('hello');
    assert.equal(answer, '1: hello');
    assert.deepEqual(usage, { input_tokens: 200, output_tokens: 10, cost: 0.25 });
    assert.equal(seen[0]?.env.ANTHROPIC_API_KEY, KEY);
  });

  for (const [name, changed] of [
    ['truncated', { stop_reason: 'max_tokens' }],
    ['refused', { stop_reason: 'refusal' }],
    ['empty', { result: ' ' }],
    ['of another type', { result: { text: 'x' } }],
    ['cut short by its number of turns', { subtype: 'error_max_turns', is_error: true, result: undefined }],
  ] as const) {
    test(`is not a result that is ${name}`, async (t) => {
      const { run } = start(
        t,
        'claude-code',
        claudeCode(() => exit(0, claudeResult('partial', changed))),
      );
      const { answer, reason } = await run('hello');
      assert.equal(answer, null);
      assert.match(String(reason), /no complete answer/);
    });
  }

  for (const [status, permanent] of [
    [400, true],
    [401, true],
    [429, undefined],
    [500, undefined],
  ] as const) {
    test(`a status ${status} fails ${permanent ? 'for good' : 'for now'}, with the reason and without secrets`, async (t) => {
      const printed = claudeResult(`API Error: ${status} key ${KEY}`, { is_error: true, api_error_status: status });
      const { run } = start(
        t,
        'claude-code',
        claudeCode(() => exit(1, printed)),
      );
      const { reason, failure } = await run('hello');
      assert.match(String(reason), new RegExp(`API Error: ${status} key \\*\\*\\*`));
      assert.equal(failure.permanent, permanent);
    });
  }

  test('is not text outside of JSON', async (t) => {
    const { run } = start(
      t,
      'claude-code',
      claudeCode(() => exit(0, 'Please log in')),
    );
    assert.equal((await run('hello')).answer, null);
  });
});

describe('the answer of Codex', () => {
  const answers = async (t: TestContext, ...lines: readonly unknown[]) =>
    (
      await start(
        t,
        'codex',
        codex(() => lines),
      ).run('hello')
    ).answer;

  test('is its last message', async (t) => {
    const lines = [codexItem('agent_message', { text: 'first' }), codexItem('agent_message', { text: 'last' })];
    assert.equal(await answers(t, ...lines, codexEnd()), 'last');
  });
  test('is not its reasoning', async (t) => {
    assert.equal(await answers(t, codexItem('reasoning', { text: 'I think' }), codexEnd()), null);
  });
  test('is not text before a tool call', async (t) => {
    const lines = [
      codexItem('agent_message', { text: 'I will look' }),
      codexItem('command_execution', { exit_code: 0 }),
    ];
    assert.equal(await answers(t, ...lines, codexEnd()), null);
  });
  test('is not text of a turn that has not ended', async (t) => {
    assert.equal(await answers(t, codexItem('agent_message', { text: 'half of' })), null);
  });
  test('is found after errors that it has recovered from', async (t) => {
    const lines = [{ type: 'error', message: 'Reconnecting... 1/5' }, codexItem('agent_message', { text: 'done' })];
    assert.equal(await answers(t, ...lines, codexEnd()), 'done');
  });
});

describe('a program that prints the whole text with each part of it', () => {
  /** Prints lines as the double of a process does: those that are not kept are missing. */
  const printing = (t: TestContext, lines: readonly unknown[]) => {
    const plan = compileAgent({ use: 'pi', key: 'env:MODEL_KEY', model: 'm', base_url: 'https://m.test/v1' });
    let held = 0;
    const confine = () => (request: ProcessRequest) => {
      const all = lines.map((line) => Buffer.from(`${JSON.stringify(line)}\n`));
      const kept = Buffer.concat(all.filter((line) => request.keepLine?.(line) !== false));
      held = kept.length;
      return Promise.resolve(exit(0, kept.toString()));
    };
    const run = knownAgent(plan, { home: tempDir(t), confine, clock: new FakeClock() });
    return { run: () => run('a'), held: () => held };
  };
  const message = (text: string, more: object = {}) => ({
    role: 'assistant',
    content: [{ type: 'text', text }],
    ...more,
  });
  const done = (text: string) => {
    const usage = { input: 3, output: 2, cacheRead: 0, cacheWrite: 0, cost: { total: 0.5 } };
    return { type: 'message_end', message: message(text, { stopReason: 'stop', usage }) };
  };

  test('has an answer, a usage and an end, and the repetitions are not held', async (t) => {
    const text = 'part '.repeat(500);
    const updates = Array.from({ length: 500 }, (_, index) => ({
      type: 'message_update',
      message: message(`${text.slice(0, 5 * index)}"message_end"`),
    }));
    const { run, held } = printing(t, [
      { type: 'session' },
      ...updates,
      done(text),
      { type: 'agent_end', messages: [] },
    ]);
    const { answer, usage } = await run();
    assert.equal(answer, text);
    assert.deepEqual(usage, { input_tokens: 3, output_tokens: 2, cost: 0.5 });
    assert.ok(held() < 2 * text.length, String(held()));
  });
  test('has no answer that is too long', async (t) => {
    const { run } = printing(t, [done('x'.repeat(1_048_577)), { type: 'agent_end' }]);
    const { answer, reason } = await run();
    assert.equal(answer, null);
    assert.match(String(reason), /1048576/);
  });
  test('has no answer without the line that ends the run', async (t) => {
    const { run } = printing(t, [done('whole'), { type: 'message_update', message: message('x') }]);
    assert.equal((await run()).answer, null);
  });
});

const OUTPUTS = {
  tools: [],
  take: () => {},
  refuse: () => {},
  redact: (text: string) => text,
  checked: () => null,
  mcp: { argv: ['/bin/node', 'serve.js'], declaration: '{}' },
} as never;

test('outputs are added to settings that the configuration writes itself', async (t) => {
  const own = JSON.stringify({ theme: 'mine', tools: { bash: true }, mcp: { docs: { type: 'remote' } } });
  const agent = { use: 'opencode', key: 'env:MODEL_KEY', model: 'm', base_url: 'https://m.test/v1' };
  const plan = compileAgent({ ...agent, env: { OPENCODE_CONFIG_CONTENT: own } });
  const seen: ProcessRequest[] = [];
  const confine = () => (request: ProcessRequest) => {
    seen.push(request);
    return Promise.resolve(exit(1, ''));
  };
  const run = knownAgent(plan, { home: tempDir(t), confine, clock: new FakeClock() });
  await run('a');
  await run('a', { outputs: OUTPUTS });
  const [without, withOutputs] = seen.map(({ env }) => JSON.parse(String(env.OPENCODE_CONFIG_CONTENT)));
  assert.deepEqual(without, JSON.parse(own));
  assert.deepEqual(withOutputs.tools, { bash: true, 'hookwright*': true });
  assert.deepEqual([withOutputs.theme, Object.keys(withOutputs.mcp)], ['mine', ['docs', 'hookwright']]);
});

describe('the tools of a program', () => {
  /** What the program receives about its tools: an argument, or the settings that it reads. */
  const told = async (t: TestContext, use: string, toolsets: readonly string[]): Promise<unknown> => {
    const home = tempDir(t);
    const more = use === 'gemini-cli' ? {} : { model: 'm', base_url: 'https://m.test/v1' };
    const plan = compileAgent({ use, key: 'env:MODEL_KEY', ...(use === 'codex' ? {} : more) });
    let found: unknown;
    const confine = () => (request: ProcessRequest) => {
      const { argv, env } = request;
      const settings = join(String(env.GEMINI_CLI_HOME), '.gemini', 'settings.json');
      const after = (flag: string): string | undefined => argv[argv.indexOf(flag) + 1];
      if (use === 'gemini-cli') found = JSON.parse(readFileSync(settings, 'utf8')).tools.core;
      else if (use === 'codex') found = argv.find((word) => word.startsWith('features.shell_tool='));
      else found = after('--core-tools');
      return Promise.resolve(exit(0, ''));
    };
    await knownAgent(plan, { home, confine, clock: new FakeClock() })('a', { toolsets });
    return found;
  };

  for (const [use, none, file] of [
    ['qwen-code', 'none', 'read_file,list_directory,grep_search,glob'],
    ['gemini-cli', ['none'], ['read_file', 'list_directory', 'grep_search', 'glob']],
    ['codex', 'features.shell_tool=false', 'features.shell_tool=true'],
  ] as const)
    test(`of ${use} are off without a toolset that has them`, async (t) => {
      assert.deepEqual(await told(t, use, []), none);
      assert.deepEqual(await told(t, use, ['clarify', '__proto__']), none);
      assert.deepEqual(await told(t, use, ['file']), file);
    });

  test('of Gemini CLI are the outputs too, which its list of tools would deny', async (t) => {
    const plan = compileAgent({ use: 'gemini-cli', key: 'env:MODEL_KEY' });
    const seen: unknown[] = [];
    const confine =
      () =>
      ({ env }: ProcessRequest) => {
        const settings = join(String(env.GEMINI_CLI_HOME), '.gemini', 'settings.json');
        seen.push(JSON.parse(readFileSync(settings, 'utf8')).tools);
        return Promise.resolve(exit(0, ''));
      };
    const run = knownAgent(plan, { home: tempDir(t), confine, clock: new FakeClock() });
    await run('a', { toolsets: [] });
    await run('a', { toolsets: [], outputs: OUTPUTS });
    assert.deepEqual(seen, [{ core: ['none'] }, { core: ['none'], allowed: ['mcp_hookwright_*'] }]);
  });
});

describe('conversations', () => {
  const three = async (t: TestContext, use: string, double: Double) => {
    const { run, home } = start(t, use, double);
    const runs = [];
    for (const prompt of ['a', 'b', 'c']) runs.push(await run(prompt, { continued: true }));
    assert.deepEqual(
      runs.map(({ answer }) => answer),
      ['1: a', '2: b', '3: c'],
    );
    assert.deepEqual(readdirSync(join(home, 'work')).includes('conversations'), true);
    return runs.map(({ usage }) => usage?.input_tokens);
  };

  test('of Claude Code have a UUID and one folder each', async (t) => {
    assert.deepEqual(await three(t, 'claude-code', claudeCode()), [200, 200, 200]);
  });
  test('of Codex continue the thread that it printed, and its repeated totals are subtracted', async (t) => {
    assert.deepEqual(await three(t, 'codex', codex()), [200, 200, 200]);
  });

  test('of Codex count the usage of a run without an answer once', async (t) => {
    const totals = [100, 250, 350];
    const double = codex((prompt) => [
      ...(prompt === 'b' ? [] : [codexItem('agent_message', { text: prompt })]),
      { type: 'turn.completed', usage: { input_tokens: totals.shift(), output_tokens: 0 } },
    ]);
    const { run } = start(t, 'codex', double);
    const runs = [];
    for (const prompt of ['a', 'b', 'c']) runs.push(await run(prompt, { continued: true }));
    assert.deepEqual(
      runs.map(({ answer, usage }) => [answer, usage?.input_tokens]),
      [
        ['a', 100],
        [null, 150],
        ['c', 100],
      ],
    );
  });

  test('of different sessions are separate', async (t) => {
    const { run } = start(t, 'codex', codex());
    await run('a', { continued: true, session: 'webhook:pulls:1' });
    assert.equal((await run('b', { continued: true, session: 'webhook:pulls:2' })).answer, '1: b');
  });

  test('are not kept without a session key', async (t) => {
    const { run, seen, home } = start(t, 'claude-code', claudeCode());
    await run('a');
    assert.equal((await run('b')).answer, '1: b');
    assert.ok(seen.every(({ argv }) => argv.includes('--no-session-persistence')));
    assert.ok(!readdirSync(join(home, 'work')).includes('conversations'));
  });

  test('a first run that was killed is repeated with another id', async (t) => {
    const home = tempDir(t);
    const double = claudeCode();
    const killed = start(
      t,
      'claude-code',
      (request) => ({ ...double(request), kind: 'timeout', stderr: '' }) as never,
      home,
    );
    assert.equal((await killed.run('a', { continued: true })).answer, null);
    assert.equal((await start(t, 'claude-code', double, home).run('a', { continued: true })).answer, '1: a');
  });

  test('a run that fails leaves the conversation as it was', async (t) => {
    const home = tempDir(t);
    const double = claudeCode();
    await start(t, 'claude-code', double, home).run('a', { continued: true });
    await start(t, 'claude-code', () => exit(1, claudeResult('x', { is_error: true })), home).run('b', {
      continued: true,
    });
    assert.equal((await start(t, 'claude-code', double, home).run('c', { continued: true })).answer, '2: c');
  });

  test('one that the program has lost fails a run, and the next one starts another', async (t) => {
    const { run, home } = start(t, 'claude-code', claudeCode());
    await run('a', { continued: true });
    const [hash = ''] = readdirSync(join(home, 'work', 'conversations'));
    rmSync(join(home, 'work', 'conversations', hash, 'claude-code', 'state'), { recursive: true });
    assert.match(String((await run('b', { continued: true })).reason), /lost the conversation/);
    assert.equal((await run('c', { continued: true })).answer, '1: c');
  });

  test('are not lost because the model writes that they are', async (t) => {
    const { run, home } = start(t, 'claude-code', claudeCode());
    await run('a', { continued: true });
    const cut = (): ProcessResult => exit(0, claudeResult('No conversation found', { stop_reason: 'max_tokens' }));
    assert.match(String((await start(t, 'claude-code', cut, home).run('b', { continued: true })).reason), /max_tokens/);
    assert.equal((await start(t, 'claude-code', claudeCode(), home).run('c', { continued: true })).answer, '2: c');
  });

  test('are dropped after 29 days', async (t) => {
    const { run, clock, home } = start(t, 'codex', codex());
    await run('a', { continued: true });
    await clock.advance(29.5 * 86_400_000);
    assert.equal((await run('b', { continued: true, session: 'webhook:pulls:2' })).answer, '1: b');
    assert.equal(readdirSync(join(home, 'work', 'conversations')).length, 1);
    assert.equal((await run('c', { continued: true })).answer, '1: c');
  });

  test('an id that could be an option is never passed on', async (t) => {
    const { run, seen } = start(t, 'codex', (request) => {
      const printed = codex()(request);
      if (printed.kind !== 'exit') return printed;
      return { ...printed, stdout: Buffer.from(printed.stdout.toString().replace(/thread-\d+/, '--dangerous')) };
    });
    await run('a', { continued: true });
    await run('b', { continued: true });
    assert.ok(seen.every(({ argv }) => !argv.includes('--dangerous')));
  });
});

/** Plants something in the private folder of the program, where `outside` belongs to the operator. */
type Plant = (state: string, outside: string) => void;

const PLANTS: Readonly<Record<string, Plant>> = {
  'a link in place of the settings': (state, outside) =>
    symlinkSync(join(outside, 'settings.json'), join(state, '.gemini/settings.json')),
  'a link to a file that does not exist': (state, outside) =>
    symlinkSync(join(outside, 'new.json'), join(state, '.gemini/settings.json')),
  'a hard link in place of the settings': (state, outside) =>
    linkSync(join(outside, 'settings.json'), join(state, '.gemini/settings.json')),
  'a folder in place of the settings': (state) => mkdirSync(join(state, '.gemini/settings.json')),
  'a link in place of the folder': (state, outside) => {
    rmSync(join(state, '.gemini'), { recursive: true });
    symlinkSync(outside, join(state, '.gemini'));
  },
  'a link to itself': (state) => {
    rmSync(join(state, '.gemini'), { recursive: true });
    symlinkSync('.gemini', join(state, '.gemini'));
  },
  'a file in place of the folder': (state) => {
    rmSync(join(state, '.gemini'), { recursive: true });
    writeFileSync(join(state, '.gemini'), '');
  },
  'no access to the folder': (state) => chmodSync(join(state, '.gemini'), 0o500),
  'no access to anything': (state) => chmodSync(state, 0),
  'no access to a folder that is not kept': (state) => mkdirSync(join(state, 'x/y'), { recursive: true, mode: 0o500 }),
};

describe('the files of the next run of a conversation are written, and nothing outside, after', () => {
  for (const [what, plant] of Object.entries(PLANTS)) {
    test(what, async (t) => {
      const outside = tempDir(t);
      writeFileSync(join(outside, 'settings.json'), 'of the operator', { mode: 0o644 });
      let isPlanted = false;
      const { run } = start(t, 'gemini-cli', ({ env }) => {
        const settings = join(String(env.GEMINI_CLI_HOME), '.gemini/settings.json');
        assert.ok(lstatSync(settings).isFile());
        assert.match(readFileSync(settings, 'utf8'), /telemetry/);
        if (!isPlanted) {
          rmSync(settings);
          plant(String(env.GEMINI_CLI_HOME), outside);
        }
        isPlanted = true;
        return exit(0, JSON.stringify({ response: 'done' }));
      });
      for (const prompt of ['a', 'b', 'c'])
        assert.equal((await run(prompt, { continued: true })).answer, 'done', prompt);
      assert.deepEqual(readdirSync(outside), ['settings.json']);
      assert.equal(readFileSync(join(outside, 'settings.json'), 'utf8'), 'of the operator');
      assert.equal(lstatSync(join(outside, 'settings.json')).mode & 0o777, 0o644);
    });
  }
});

describe('what a run may do', () => {
  test('has the tools of its toolsets', async (t) => {
    const { run, seen } = start(t, 'claude-code', claudeCode());
    await run('a', { toolsets: ['web_search', 'vision_analyze', 'terminal'] });
    const { argv = [] } = seen[0] ?? {};
    assert.equal(argv[argv.indexOf('--tools') + 1], 'Bash');
    await run('a', { toolsets: [] });
    const { argv: none = [] } = seen[1] ?? {};
    assert.equal(none[none.indexOf('--tools') + 1], '');
  });
  test('a prompt never begins with the sign of a command', async (t) => {
    const { run, seen } = start(t, 'claude-code', claudeCode());
    await run('\n /config permissionMode=auto');
    assert.doesNotMatch(String(seen[0]?.stdin), /^\s*\//);
  });
  test('its private folder is new in each run and removed', async (t) => {
    const { run, seen, home } = start(t, 'codex', codex());
    await run('a');
    await run('b');
    const folders = seen.map(({ env }) => String(env.CODEX_HOME));
    assert.equal(new Set(folders).size, 2);
    assert.ok(folders.every((folder) => folder.startsWith(join(home, 'work', 'runs'))));
    assert.ok(seen.every(({ writable = [], env }) => writable.includes(String(env.CODEX_HOME))));
  });
});
