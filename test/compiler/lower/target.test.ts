/** Target files become plans with defaults and complete variants; every mistake is reported at its position. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { needsChat } from '../../../compiler/config/target-entries.ts';
import { lowerTarget } from '../../../compiler/lower/targets.ts';
import type { TargetFile } from '../../../schemas/generated/types.ts';
import { schemaValidator } from '../../helpers/schema-validator.ts';
import { bindingOf, lowerTargetFile, shippedTargets } from '../../helpers/targets.ts';

const BASE = { title: 'T', base: 'https://t.example', request: { path: '/' } } as const;

describe('mistakes', () => {
  const CASES: readonly (readonly [string, Partial<TargetFile>, string, string])[] = [
    ['an unknown value', { request: { path: '/{tokn}' } }, 'target-value', 'request.path'],
    [
      'a value of the delivery in a header',
      { request: { path: '/', headers: { 'x-a': '{chat_id}' } } },
      'target-value',
      'request.headers.x-a',
    ],
    ['a value of the delivery in the base', { base: 'https://{chat_id}' }, 'target-value', 'base'],
    ['the text in a path', { request: { path: '/{text}' } }, 'target-value', 'request.path'],
    ['an optional value in a path', { request: { path: '/{thread?}' } }, 'target-value', 'request.path'],
    [
      'a value of the delivery as a password',
      { request: { path: '/', basic: { user: 'a', password: '{text}' } } },
      'target-value',
      'request.basic.password',
    ],
    [
      'a group that no pattern has',
      { request: { path: '/', when: { chat_id: '(?P<id>.+)' }, json: { a: '{match.name}' } } },
      'target-value',
      'request.json.a',
    ],
    [
      'a token without an exchange',
      { request: { path: '/', headers: { a: '{exchanged_token}' } } },
      'target-value',
      'request.headers.a',
    ],
    [
      'a signature without one',
      { request: { path: '/', query: { s: '{signature}' } } },
      'target-value',
      'request.query.s',
    ],
    [
      'an address in a token request',
      { exchange: { request: { path: '/', json: { a: '{chat_id}' } }, token: 't' } },
      'target-value',
      'exchange.request.json.a',
    ],
    [
      'a look-ahead',
      { address: { chat_id: { help: 'x', pattern: '(?=a)' } } },
      'target-pattern',
      'address.chat_id.pattern',
    ],
    ['a broken expression in a test', { success: { text: '(' } }, 'target-pattern', 'success.text'],
    [
      'an unknown node',
      { request: { path: '/', json: { a: { $float: '1' }, b: 1 } } },
      'target-body',
      'request.json.a.$float',
    ],
    ['a relative path', { request: { path: 'send' } }, 'target-path', 'request.path'],
    ['parameters in a path', { request: { path: '/a?b=c' } }, 'target-path', 'request.path'],
    ['two bodies', { request: { path: '/', json: {}, form: {} } }, 'target-request', 'request.form'],
    ['a body of a GET', { request: { path: '/', method: 'GET', json: {} } }, 'target-request', 'request.json'],
    ['no request', { request: undefined as never }, 'target-request', ''],
    ['a header of ours', { request: { path: '/', headers: { Host: 'x' } } }, 'target-header', 'request.headers.Host'],
    [
      'a header that is none',
      { request: { path: '/', headers: { 'a b': 'x' } } },
      'target-header',
      'request.headers.a b',
    ],
    ['a setting with a reserved name', { settings: { text: { help: 'x' } } }, 'target-setting', 'settings.text'],
    [
      'a setting with a key of every config',
      { settings: { a: { help: 'x', aliases: ['enabled'] } } },
      'target-setting',
      'settings.a',
    ],
    [
      'a setting called like another',
      { settings: { a: { help: 'x' }, b: { help: 'x', aliases: ['a'] } } },
      'target-setting',
      'settings.b',
    ],
    [
      'a field called like a setting',
      { settings: { a: { help: 'x' } }, address: { a: { help: 'x' } } },
      'target-address',
      'address.a',
    ],
    [
      'a need that is not a setting',
      { variants: { one: { needs: ['nothing'] } } },
      'target-needs',
      'variants.one.needs.0',
    ],
    [
      'a refresh without an exchange',
      { outcomes: [{ when: { status: 401 }, outcome: 'refresh' }] },
      'target-outcome',
      'outcomes.0.outcome',
    ],
    ['a wait from nowhere', { retry_after: { from: [{ unit: 's' }] } }, 'target-retry-after', 'retry_after.from.0'],
    [
      'a wait without a group',
      { retry_after: { from: [{ text: 'wait \\d+' }] } },
      'target-retry-after',
      'retry_after.from.0.text',
    ],
    ['parts that a driver in code does not read', { driver: 'log' }, 'target-driver', 'base'],
  ];
  for (const [name, part, rule, path] of CASES) {
    test(name, () => {
      const { request, ...rest } = { ...BASE, ...part };
      const { plan, problems } = lowerTarget('t', request === undefined ? rest : { ...rest, request });
      assert.equal(plan, null);
      const [problem] = problems;
      assert.deepEqual([problem?.rule, problem?.path.join('.')], [rule, path], JSON.stringify(problems));
    });
  }
});

test('reports a mistake in a shared part once, one in a variant at the variant', () => {
  const shared = lowerTarget('t', { ...BASE, request: { path: '/{x}' }, variants: { a: {}, b: {} } });
  assert.deepEqual(
    shared.problems.map(({ path }) => path.join('.')),
    ['request.path'],
  );
  const own = lowerTarget('t', { ...BASE, variants: { a: {}, b: { request: { path: '/{x}' } } } });
  assert.deepEqual(
    own.problems.map(({ path }) => path.join('.')),
    ['variants.b.request.path'],
  );
});

test('reports an invalid placeholder at its position in the text', () => {
  const { problems } = lowerTarget('t', { ...BASE, request: { path: '/a/{chat_id}/{nope}' } });
  assert.deepEqual(problems[0]?.within, { offset: 13, length: 6 });
});

test('adds defaults, lower-cases header names and splits paths', () => {
  const [variant] = lowerTargetFile('t', {
    ...BASE,
    request: { path: '/{chat_id}', headers: { 'X-Key': 'a' } },
    success: { status: [200, '3xx'], headers: { 'X-Ok': 'yes' }, body: { 'a.b': [1, 2], '.': { is: 'object' } } },
  }).variants;
  assert.equal(variant?.name, 'default');
  assert.equal(variant?.timeout_ms, 20_000);
  assert.deepEqual(
    variant?.retry_after.map(({ header }) => header),
    ['retry-after'],
  );
  assert.equal(variant?.requests[0]?.headers[0]?.name, 'x-key');
  assert.deepEqual(variant?.success.slice(0, 3), [
    {
      kind: 'status',
      ranges: [
        { from: 200, to: 200 },
        { from: 300, to: 399 },
      ],
    },
    { kind: 'header', name: 'x-ok', expect: [{ op: 'in', values: ['yes'] }] },
    { kind: 'body', path: ['a', 'b'], expect: [{ op: 'in', values: [1, 2] }] },
  ]);
});

test('braces around anything but a name are text', () => {
  const plan = lowerTargetFile('t', { ...BASE, request: { path: '/', plain: '{"a": {text}, {}, {A}, { x }}' } });
  const body = plan.variants[0]?.requests[0]?.body;
  assert.ok(body?.kind === 'plain');
  assert.deepEqual(
    body.value.map((part) => (part.kind === 'text' ? part.text : part.of)),
    ['{"a": ', 'text', ', {}, {A}, { x }}'],
  );
});

test('every shipped plan is valid against the schema of plans', () => {
  const check = schemaValidator('target-plan');
  for (const plan of Object.values(shippedTargets())) assert.deepEqual(check(plan), [], plan.name);
});

test('bots need a chat id; incoming webhooks and threads do not', () => {
  const plans = shippedTargets();
  const needs = (target: string, variant: string | null, inThread = false): boolean => {
    const plan = plans[target];
    assert.ok(plan !== undefined);
    return needsChat(plan, bindingOf({}, { variant }), inThread);
  };
  assert.deepEqual(
    [
      needs('telegram', 'default'),
      needs('discord', 'bot'),
      needs('slack', 'bot'),
      needs('homeassistant', 'default'),
      needs('email', null),
      needs('feishu', 'app'),
    ],
    Array(6).fill(true),
  );
  assert.deepEqual(
    [
      needs('discord', 'webhook'),
      needs('slack', 'webhook'),
      needs('mattermost', 'webhook'),
      needs('dingtalk', 'robot'),
      needs('discord', 'bot', true),
      needs('feishu', 'app', true),
      needs('log', null),
    ],
    Array(7).fill(false),
  );
});
