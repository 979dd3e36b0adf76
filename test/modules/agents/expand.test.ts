import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { AgentConfig } from '../../../schemas/generated/types.ts';
import { CATALOG, compileFiles } from '../../helpers/compile.ts';
import { compileAgent } from '../../helpers/known-agent.ts';

const KEY = 'env:MODEL_KEY';

/** The rules that report the agent, each with the text that it points at. */
function faults(agent: object, files: Readonly<Record<string, string>> = {}, gateway: object = {}) {
  const { diagnostics } = compileFiles({ 'hookwright.yaml': JSON.stringify({ gateway, agent }), ...files });
  const errors = diagnostics.filter(({ severity }) => severity === 'error');
  return errors.map(({ rule, source, range }) => [rule, source.text.slice(range.start, range.end)]);
}

describe('use', () => {
  test('of an unknown program is an error with the closest name', () => {
    assert.deepEqual(faults({ use: 'claude', key: KEY }), [['agent-use', '"claude"']]);
  });
  test('without what the program needs is an error', () => {
    assert.deepEqual(faults({ use: 'opencode', key: KEY }), [['agent-use', '"opencode"']]);
  });
  for (const [key, value] of [
    ['openai', { base_url: 'http://127.0.0.1:1/v1', model: 'm' }],
    ['answer_path', 'result'],
    ['usage_paths', { input: 'x' }],
  ] as const)
    test(`and ${key} exclude each other`, () => {
      const found = faults({ use: 'codex', [key]: value });
      assert.deepEqual(found[0], ['agent-use', JSON.stringify(key)]);
    });
  for (const key of ['model', 'key', 'base_url'])
    test(`is needed beside ${key}`, () => {
      assert.deepEqual(faults({ command: ['x'], [key]: 'https://x.test' }), [['agent-use', `"${key}"`]]);
    });
  for (const url of ['http://models.example.com/v1', 'not a URL', 'https://u:p@x.test', 'https://x.test/"$(id)"'])
    test(`refuses the base URL ${url}`, () => {
      assert.equal(faults({ use: 'codex', key: KEY, base_url: url })[0]?.[0], 'agent-use');
    });
  test('refuses a model that could be an option or end a text', () => {
    for (const model of ['--yolo', 'x"y', 'x y', ''])
      assert.equal(faults({ use: 'codex', key: KEY, model }).length > 0, true, model);
  });
});

describe('an expanded agent', () => {
  test('is started by the words of `command`', () => {
    const { argv } = compileAgent({ use: 'codex', command: ['npx', '@openai/codex'] });
    assert.deepEqual(argv.slice(0, 4), ['npx', '@openai/codex', 'exec', '--json']);
  });
  test('has only arguments and variables with values', () => {
    const bare = compileAgent({ use: 'codex' });
    assert.ok(!bare.argv.includes('--model') && !bare.argv.some((word) => word.includes('{base_url}')));
    // Its own login is in its usual folder.
    assert.deepEqual(bare.program?.env, {});
    const full = compileAgent({ use: 'codex', key: KEY, model: 'gpt-5', base_url: 'https://m.test/v1' });
    assert.ok(full.argv.includes('gpt-5') && full.argv.includes('openai_base_url="https://m.test/v1"'));
  });
  test('keeps variables that the configuration sets', () => {
    const agent = { use: 'claude-code', key: KEY, env: { CLAUDE_CONFIG_DIR: '/mine', CLAUDE_CODE_MAX_RETRIES: '9' } };
    const { env, program } = compileAgent(agent);
    assert.equal(env.CLAUDE_CODE_MAX_RETRIES?.value, '9');
    assert.equal(env.CLAUDE_CONFIG_DIR?.value, '/mine');
    assert.equal(program?.env?.CLAUDE_CONFIG_DIR, undefined);
  });
  test('a file of the home replaces the shipped one, and an invalid one is reported', () => {
    const path = '~/.hookwright/catalog/agents/codex.yaml';
    const own = 'title: Mine\ncommand: [mine, "{toolsets}"]\noutput: { answer: { path: text } }\n';
    assert.deepEqual(compileAgent({ use: 'codex' }, { [path]: own }).argv, ['mine', '{toolsets}']);
    assert.deepEqual(faults({ use: 'codex' }, { [path]: own.replace('output', 'outputs') }).length > 0, true);
  });
  for (const line of [
    'base_url: models.example.com/v1',
    'base_url: http://models.example.com/v1',
    'files: { ../x: a }',
    'command: []',
  ])
    test(`refuses an entry of the home with ${line}`, () => {
      const entry = `title: Mine\n${line.startsWith('command') ? '' : 'command: [mine]\n'}${line}\noutput: { answer: { path: text } }\n`;
      assert.notDeepEqual(faults({ use: 'mine' }, { '~/.hookwright/catalog/agents/mine.yaml': entry }), []);
    });
});

describe('the sandbox of an expanded agent', () => {
  const agent: AgentConfig = { use: 'claude-code', key: KEY };

  test('is not switched on by `use`', () => {
    const { sandbox, only_to } = compileAgent(agent);
    assert.equal(sandbox, null);
    assert.deepEqual(only_to, {});
  });
  test('gets the host of the model, which alone gets the key', () => {
    const { sandbox, only_to } = compileAgent({ ...agent, sandbox: { network: ['a.test'], read: ['/data'] } });
    assert.deepEqual(sandbox, { network: ['a.test', 'api.anthropic.com'], read: ['/data'], write: [] });
    assert.deepEqual(only_to, { ANTHROPIC_API_KEY: { only_to: ['api.anthropic.com'] } });
  });
  test('is that of the gateway, with the same additions', () => {
    const config = { gateway: { sandbox: { network: 'none' } }, agent: { ...agent, base_url: 'https://m.test:8443' } };
    const { output } = compileFiles({ 'hookwright.yaml': JSON.stringify(config) });
    const plan = output?.table.profiles.default?.agent;
    assert.ok(plan?.kind === 'command');
    assert.deepEqual(plan.sandbox?.network, ['m.test:8443']);
    assert.deepEqual(plan.only_to.ANTHROPIC_API_KEY?.only_to, ['m.test:8443']);
  });
  test('passes the key on to a server of this machine', () => {
    const { sandbox, only_to } = compileAgent({ ...agent, base_url: 'http://127.0.0.1:8080', sandbox: {} });
    assert.deepEqual(sandbox?.network, ['127.0.0.1:8080']);
    assert.deepEqual(only_to, {});
  });
  test('with `network: any` cannot keep the key, which is an error', () => {
    assert.equal(faults({ ...agent, sandbox: { network: 'any' } })[0]?.[0], 'guarded-secret');
  });
  test('replaces the sandbox of Codex', () => {
    const modeOf = (config: object) => {
      const { argv } = compileAgent({ use: 'codex', key: KEY, ...config });
      return argv[argv.indexOf('--sandbox') + 1];
    };
    assert.deepEqual([modeOf({}), modeOf({ sandbox: {} })], ['read-only', 'danger-full-access']);
  });
});

test('every shipped entry compiles with what it needs, and has no placeholder that nothing fills in', () => {
  const values = { key: KEY, model: 'm', base_url: 'https://m.test/v1' } as const;
  const known = new Set([
    'tools',
    'toolsets',
    'state',
    'id',
    'conversation',
    'mcp',
    'mcp_command',
    'mcp_args',
    'mcp_argv',
  ]);
  for (const [use, { needs = [], versions, docs, package: packageName }] of Object.entries(CATALOG.agents)) {
    const needed = Object.fromEntries(needs.map((need) => [need, values[need]]));
    for (const more of [needed, { ...values }]) {
      const { argv, program } = compileAgent({ use, ...more } as AgentConfig);
      const text = JSON.stringify([argv, program?.env, program?.files, program?.mcp]);
      const left = [...text.matchAll(/\{([a-z_]+)\}/g)].map(([, name = '']) => name);
      assert.deepEqual(
        left.filter((name) => !known.has(name)),
        [],
        use,
      );
      const takesServer = argv.includes('{mcp}');
      assert.equal(takesServer, (program?.mcp?.arguments ?? []).length > 0, `${use} and its arguments for outputs`);
    }
    assert.ok(versions !== undefined && docs !== undefined && packageName !== undefined, use);
  }
});
