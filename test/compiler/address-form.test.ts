/** Checks `address-form`: invalid addresses are errors at their position, and every documented form of every target passes. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { compileConfig, compileFiles } from '../helpers/compile.ts';
import { TARGET_CASES } from '../helpers/target-cases.ts';

const json = JSON.stringify;

/** Returns the texts at the positions of `address-form`. */
function misfits(more: string, platforms = ''): readonly string[] {
  const text = `platforms: { webhook: { enabled: true, secret: env:S, routes: { a: { prompt: x${more} } } }${platforms} }\n`;
  return compileConfig(text)
    .diagnostics.filter(({ rule }) => rule === 'address-form')
    .map(({ source, range, severity }) => `${severity} ${source.text.slice(range.start, range.end)}`);
}

const extra = (target: string, keys: unknown): string => `, deliver: ${target}, deliver_extra: ${json(keys)}`;

describe('no target accepts it', () => {
  const BAD: readonly (readonly [target: string, key: string, value: string])[] = [
    ['telegram', 'chat_id', 'c-1'],
    ['telegram', 'message_thread_id', 'topic'],
    ['messenger_a', 'chat_id', '-100 1'],
    ['slack', 'thread_id', '1503435956'],
    ['slack', 'chat_id', 'two words'],
    ['discord', 'chat_id', '#general'],
    ['discord', 'thread_id', 'x'],
    ['signal', 'chat_id', '4917000'],
    ['twilio', 'chat_id', '0170 123'],
    ['whatsapp', 'thread_id', '17'],
    ['matrix', 'chat_id', '#room:example.org'],
    ['matrix', 'thread_id', 'root'],
    ['mattermost', 'chat_id', 'a b'],
    ['homeassistant', 'chat_id', 'Notify Phone'],
    ['email', 'chat_id', 'ops'],
    ['qq', 'chat_id', '3F2A9C'],
    ['bluebubbles', 'chat_id', '+15550100'],
    ['github', 'repo', 'octo-repo'],
    ['github', 'pr_number', '#12'],
  ];
  for (const [target, key, value] of BAD) {
    test(`${target} ${key}: ${value}`, () => {
      assert.deepEqual(misfits(extra(target, { [key]: value })), [`error ${json(value)}`]);
      assert.deepEqual(misfits(extra(target, { [target]: { [key]: value } })), [`error ${json(value)}`]);
    });
  }

  test('in a home channel, a job and a subscription', () => {
    const home = ', telegram: { enabled: true, token: env:T, home_channel: general }';
    assert.deepEqual(misfits('', home), ['error general']);
    const { diagnostics } = compileFiles({
      'hookwright.yaml':
        'platforms: { webhook: { enabled: true, secret: env:S } }\njobs: { r: { schedule: "0 8 * * *", prompt: x, deliver: telegram, deliver_extra: { chat_id: c-1 } } }\n',
      '~/.hookwright/webhook_subscriptions.json':
        '{"s":{"prompt":"x","deliver":"telegram","deliver_extra":{"chat_id":"c-1"}}}',
    });
    const found = diagnostics.filter(({ message }) => message.includes('c-1'));
    assert.deepEqual(
      found.map(({ rule, source }) => [rule, source.name.split('/').at(-1)]),
      [
        ['subscription-rejected', 'webhook_subscriptions.json'],
        ['address-form', 'hookwright.yaml'],
      ],
    );
  });
});

describe('accepts values that may be valid', () => {
  for (const { target, name, extra: address = {} } of TARGET_CASES) {
    test(`${target}: ${name}`, () => {
      assert.deepEqual(misfits(extra(target, address)), []);
    });
  }

  const GOOD: readonly (readonly [target: string, keys: Readonly<Record<string, unknown>>])[] = [
    ['telegram', { chat_id: -1001234567890, message_thread_id: 7 }],
    ['telegram', { chat_id: '@{channel}' }],
    ['telegram', { chat_id: '' }],
    ['telegram', { chat_id: 'c-{id}' }],
    ['github', { repo: '{repository.full_name}', pr_number: '{number}' }],
    ['github', { repo: '{owner}/{name}', pr_number: 42 }],
    ['github', { repo: 'octo-org/{name}', pr_number: '4{n}' }],
    ['email', { chat_id: '{user}@example.org', subject: 'Any text' }],
    ['slack', { chat_id: '#{team}-alerts', thread_id: '{ts}' }],
  ];
  for (const [target, keys] of GOOD)
    test(json([target, keys]), () => assert.deepEqual(misfits(extra(target, keys)), []));
});
