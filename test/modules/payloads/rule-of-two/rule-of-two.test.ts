/** Compares the rule with forty configurations that were written from the requirement, apart from the code. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { parse, stringify } from 'yaml';
import { compileFiles, printed } from '../../../helpers/compile.ts';

interface Case {
  readonly name: string;
  readonly letters: string;
  readonly reported: boolean;
  readonly route: Readonly<Record<string, unknown>>;
  readonly gateway?: object;
}

const { base, cases } = parse(readFileSync(new URL('cases.yaml', import.meta.url), 'utf8'), { merge: true }) as {
  readonly base: { readonly gateway: object; readonly platforms: { readonly webhook: object } };
  readonly cases: readonly Case[];
};

function compileCase({ name: _, letters: _letters, reported: _reported, route, gateway = {}, ...own }: Case) {
  const routes = { r: { source: 'github', events: ['issues'], ...route } };
  const platforms = { ...base.platforms, webhook: { ...base.platforms.webhook, routes } };
  const config = { ...own, gateway: { ...base.gateway, ...gateway }, platforms };
  const result = compileFiles({ 'hookwright.yaml': stringify(config) });
  assert.notEqual(result.output, null, printed(result));
  return result;
}

describe('the Rule of Two', () => {
  for (const each of cases) {
    test(each.name, () => {
      const { output, diagnostics } = compileCase(each);
      const reach = output?.reach('r');
      const letters = (['A', 'B', 'C'] as const).filter((letter) => (reach?.[letter].length ?? 0) > 0).join('');
      const reported = diagnostics.some(({ rule }) => rule === 'rule-of-two');
      assert.deepEqual({ letters, reported }, { letters: each.letters, reported: each.reported });
    });
  }
});

describe('what an agent reaches', () => {
  const lettersOf = (agent: object, route: object = {}) => {
    const own = {
      name: '',
      letters: '',
      reported: false,
      agent,
      route: { prompt: '{issue.title}', deliver: 'log', ...route },
    };
    const { output, diagnostics } = compileCase(own);
    const reach = output?.reach('r');
    const letters = (['A', 'B', 'C'] as const).filter((letter) => (reach?.[letter].length ?? 0) > 0).join('');
    return { letters, reported: diagnostics.some(({ rule }) => rule === 'rule-of-two') };
  };
  const walled = (sandbox: object, more: object = {}) => ({ command: ['x'], sandbox, ...more });
  const publicly = { deliver: 'github_comment', deliver_extra: { repo: 'a/b', pr_number: '{issue.number}' } };

  for (const path of [
    '~/.pgpass',
    '~/.vault-token',
    '~/.local/share/keyrings',
    '~/.local',
    '~/.bash_history',
    '~/.ssh-backup',
    '~/../user/.aws',
    '~/.my-agent/id_rsa',
  ])
    test(`private: ${path}`, () => assert.equal(lettersOf(walled({ read: [path] })).letters, 'AB'));
  for (const path of ['~/.my-agent', '~/.local/share/my-agent', '/opt/data'])
    test(`not private: ${path}`, () => assert.equal(lettersOf(walled({ read: [path] })).letters, 'A'));

  test('private: a home that the program works in, or has as an argument', () => {
    assert.equal(lettersOf(walled({}, { cwd: '~/' })).letters, 'AB');
    assert.equal(lettersOf({ command: ['x', '--root', '~'], sandbox: { read: ['~'] } }).letters, 'AB');
    assert.equal(lettersOf({ command: ['node', '~/x.mjs'], sandbox: { read: ['~/x.mjs'] } }).letters, 'A');
    assert.equal(lettersOf(walled({}, { cwd: 'repository' })).letters, 'A');
  });

  test('private: what a known program reads outside of a sandbox with toolsets that read', () => {
    const agent = { use: 'codex', key: 'env:OPENAI_API_KEY' };
    assert.equal(lettersOf(agent, { toolsets: [] }).letters, 'AC');
    assert.equal(lettersOf(agent, { toolsets: ['file'] }).letters, 'ABC');
  });

  for (const host of ['127.0.0.1:5432', 'localhost:8025', '[::1]:25', 'localhost'])
    test(`a service of this machine that is not a model: ${host}`, () =>
      assert.equal(lettersOf(walled({ network: [host] })).letters, 'AC'));
  for (const host of ['127.0.0.1:11434', '[::1]:8080'])
    test(`a model of this machine: ${host}`, () => assert.equal(lettersOf(walled({ network: [host] })).letters, 'A'));

  for (const [base_url, network] of [
    ['https://models.example.com/v1', []],
    ['http://127.0.0.1:9999/v1', []],
    ['https://models.example.com', ['models.example.co']],
  ] as const)
    test(`the server of the model, ${base_url}, ${network.length === 0 ? 'alone' : 'and another one'}`, () => {
      const agent = { use: 'pi', key: 'env:MODEL_KEY', model: 'm', base_url };
      const { letters } = lettersOf({ ...agent, sandbox: network.length === 0 ? {} : { network } });
      assert.equal(letters.includes('C'), network.length > 0);
    });

  test('a report of failures in public has the last line that the program wrote', () => {
    assert.deepEqual(lettersOf(walled({ read: ['~'] }), { on_failure: publicly }), { letters: 'ABC', reported: true });
    assert.deepEqual(lettersOf(walled({}), { on_failure: publicly }), { letters: 'AC', reported: false });
    assert.equal(lettersOf(walled({ read: ['~'] }), { on_failure: { deliver: 'slack' } }).letters, 'AB');
  });
});
