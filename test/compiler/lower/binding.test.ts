/** Entries of `platforms` become bindings: resolves aliases, preserves references, reports missing and misspelt settings. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { lowerBinding } from '../../../compiler/lower/binding.ts';
import { lowerTargetNames } from '../../../compiler/lower/targets.ts';
import type { TargetConfig } from '../../../schemas/generated/types.ts';
import { lowerTargetFile, readTargetFile, shippedTarget, targetNames } from '../../helpers/targets.ts';

const SCOPE = { profile: 'work', max_attempts: 8, at_most_once: false };

const TWO_WAYS = lowerTargetFile('two_ways', {
  title: 'Two ways',
  settings: {
    token: { secret: true, help: 'x' },
    hook: { secret: true, help: 'x' },
    region: { default: 'eu', pattern: 'eu|us', help: 'x' },
    api_base: { aliases: ['server'], help: 'x' },
  },
  request: { path: '/send' },
  variants: { bot: { needs: ['token'] }, webhook: { needs: ['hook'], base: 'https://{region}.example' } },
});

const lower = (config: TargetConfig, plan = TWO_WAYS) => lowerBinding(config, plan, SCOPE);

test('resolves an alias and preserves a reference', () => {
  const { plan, problems } = lower(
    { enabled: true, bot_token: 'env:T', home_channel: -100 },
    shippedTarget('telegram'),
  );
  assert.deepEqual(problems, []);
  assert.deepEqual(plan, {
    variant: 'default',
    home_channel: '-100',
    api_base: null,
    allow_http: false,
    credentials: { token: { kind: 'env', value: 'T', scope: 'work' } },
    options: {},
    at_most_once: false,
    max_attempts: 8,
  });
});

test('at_most_once is that of the entry, else the opposite of its former name, else that of the gateway', () => {
  const read = (more: TargetConfig, at_most_once: boolean): boolean | undefined =>
    lowerBinding({ enabled: true, token: 'x', ...more }, shippedTarget('telegram'), { ...SCOPE, at_most_once }).plan
      ?.at_most_once;
  const cases: readonly (readonly [TargetConfig, boolean, boolean])[] = [
    [{}, false, false],
    [{}, true, true],
    [{ at_most_once: false }, true, false],
    [{ at_most_once: true }, false, true],
    [{ retry_ambiguous: true }, true, false],
    [{ retry_ambiguous: false }, false, true],
    [{ at_most_once: true, retry_ambiguous: true }, false, true],
  ];
  for (const [entry, ofGateway, expected] of cases)
    assert.equal(read(entry, ofGateway), expected, JSON.stringify([entry, ofGateway]));
});

test('the present settings choose the variant, unless the config names one', () => {
  const server = 'https://chat.example';
  assert.equal(lower({ enabled: true, token: 'x', server }).plan?.variant, 'bot');
  assert.equal(lower({ enabled: true, token: 'x', server }).plan?.api_base, server);
  assert.equal(lower({ enabled: true, hook: 'x' }).plan?.variant, 'webhook');
  assert.equal(lower({ enabled: true, hook: 'x', token: 'x', variant: 'webhook' }).plan?.variant, 'webhook');
});

test('home channel and base URL may be references', () => {
  const { plan } = lower({ enabled: true, hook: 'x', home_channel: 'env:HOME_CHAT', api_base: 'env:BASE' });
  assert.deepEqual(Object.keys(plan?.credentials ?? {}), ['hook', 'home_channel', 'api_base']);
  assert.equal(plan?.home_channel, null);
});

const WRONG: readonly [string, TargetConfig, string, readonly string[]][] = [
  ['a misspelt setting', { enabled: true, tokn: 'x', hook: 'x' }, 'unknown-key', ['tokn']],
  [
    'one setting twice',
    { enabled: true, token: 'x', api_base: 'https://a', server: 'https://b' },
    'duplicate-definition',
    ['server'],
  ],
  ['no credentials', { enabled: true }, 'missing-setting', []],
  ['an unknown variant', { enabled: true, hook: 'x', variant: 'hook' }, 'invalid-value', ['variant']],
  ['a variant without its credentials', { enabled: true, hook: 'x', variant: 'bot' }, 'missing-setting', []],
  ['no base URL of a self-hosted service', { enabled: true, token: 'x' }, 'missing-setting', []],
  ['a value outside its pattern', { enabled: true, hook: 'x', region: 'asia' }, 'invalid-value', ['region']],
  ['a broken reference', { enabled: true, hook: 'env:NO NAME' }, 'secret-reference', ['hook']],
  ['an empty value', { enabled: true, hook: '' }, 'invalid-value', ['hook']],
];
for (const [name, config, rule, path] of WRONG) {
  test(`refused: ${name}`, () => {
    const { plan, problems } = lower(config);
    assert.equal(plan, null);
    assert.ok(
      problems.some((one) => one.rule === rule && one.path.join() === path.join()),
      JSON.stringify(problems),
    );
  });
}

test('a disabled target has no binding, but its keys are checked', () => {
  assert.deepEqual(lower({ token: 'x' }), { plan: null, problems: [] });
  assert.equal(lower({ enabled: false, tokn: 'x' }).problems[0]?.rule, 'unknown-key');
});

test('the value of a secret is never in a message', () => {
  const plan = lowerTargetFile('strict', {
    title: 'Strict',
    settings: { token: { secret: true, pattern: '[0-9]+', help: 'x' } },
    base: 'https://x.example',
    request: { path: '/' },
  });
  const text = JSON.stringify(lower({ enabled: true, token: 'canary' }, plan).problems);
  assert.doesNotMatch(text, /canary/);
});

test('every shipped alias means one target', () => {
  const files = Object.fromEntries(targetNames().map((name) => [name, readTargetFile(name)]));
  const { plan, problems } = lowerTargetNames(files);
  assert.deepEqual(problems, []);
  assert.equal(plan?.messenger_a, 'telegram');
  assert.equal(plan?.github, 'github_comment');
});

test('rejects two targets with the same alias', () => {
  const { problems } = lowerTargetNames({ one: { aliases: ['chat'] }, two: { aliases: ['chat', 'one'] } });
  assert.deepEqual(
    problems.map(({ path }) => path.join('.')),
    ['two.aliases.0', 'two.aliases.1'],
  );
});
