import assert from 'node:assert/strict';
import { test } from 'node:test';
import { UsageError } from '../../../cli/base/errors.ts';
import type { SubscribeFlags } from '../../../cli/subscriptions/save-entry.ts';
import { applyFlags } from '../../../cli/subscriptions/save-entry.ts';
import type { RouteConfig } from '../../../schemas/generated/types.ts';

const OLD: RouteConfig = {
  events: ['push'],
  prompt: 'old',
  deliver: 'messenger_a',
  deliver_extra: { chat_id: '1', message_thread_id: '2' },
  toolsets: ['terminal'],
  secret: 's',
};

const changes: readonly (readonly [string, SubscribeFlags, Partial<Record<keyof RouteConfig, unknown>>])[] = [
  ['no flag changes nothing', {}, {}],
  ['events by comma and by repetition', { events: ['a, b', 'c'] }, { events: ['a', 'b', 'c'] }],
  ['no events accept all', { events: [''] }, { events: undefined }],
  ['an empty text takes a setting away', { prompt: '', secret: '' }, { prompt: undefined, secret: undefined }],
  ['a negative chat id', { deliverChatId: '-100' }, { deliver_extra: { chat_id: '-100', message_thread_id: '2' } }],
  [
    'single keys of deliver_extra',
    { deliverExtra: ['chat_id=', 'x=a=b'] },
    { deliver_extra: { message_thread_id: '2', x: 'a=b' } },
  ],
  ['several targets', { deliver: 'log,messenger_a' }, { deliver: ['log', 'messenger_a'] }],
  ['switches on', { deliverOnly: true, enabled: false }, { deliver_only: true, enabled: false }],
  ['switches off are not written', { deliverOnly: false, enabled: true }, {}],
  [
    'filters as YAML',
    { filter: ['{field: a, equals: 1}', '- {field: b, exists: true}'] },
    {
      filters: [
        { field: 'a', equals: 1 },
        { field: 'b', exists: true },
      ],
    },
  ],
  ['coalesce by its key', { coalesce: 'pr.number' }, { coalesce: { key: 'pr.number' } }],
  [
    'coalesce as YAML',
    { coalesce: 'key: "{a}#{b}"\nwindow_seconds: 5' },
    { coalesce: { key: '{a}#{b}', window_seconds: 5 } },
  ],
  [
    'a sender with its key and token',
    { source: 'discord', publicKey: 'env:KEY', verifyToken: 'env:TOKEN', secret: '' },
    { source: 'discord', public_key: 'env:KEY', verify_token: 'env:TOKEN', secret: undefined },
  ],
  ['turns by a key', { sessionKey: '{a}#{b}' }, { session_key: '{a}#{b}' }],
  ['skills', { skills: 'a,b' }, { skills: ['a', 'b'] }],
];
for (const [name, flags, changed] of changes) {
  test(name, () => {
    const expected = Object.entries({ ...OLD, ...changed }).filter(([, value]) => value !== undefined);
    assert.deepEqual(applyFlags(OLD, flags), Object.fromEntries(expected));
  });
}

test('a new secret ends a rotation', () => {
  assert.deepEqual(applyFlags({ secrets: ['a', 'b'] }, { secret: 'c' }), { secret: 'c' });
});

const refused: readonly (readonly [SubscribeFlags, flag: string])[] = [
  [{ deliverExtra: ['x'] }, '--deliver-extra'],
  [{ filter: ['{a: '] }, '--filter'],
  [{ filter: ['text'] }, '--filter'],
  [{ coalesce: '[' }, '--coalesce'],
];
for (const [flags, flag] of refused) {
  test(`rejects ${JSON.stringify(flags)}`, () =>
    assert.throws(
      () => applyFlags({}, flags),
      (error) => error instanceof UsageError && error.message.includes(flag),
    ));
}

test('each of the two ways to send a message without an agent ends the other', () => {
  const direct: RouteConfig = { prompt: 'x', deliver: 'slack', deliver_only: true };
  const stored: RouteConfig = { prompt: 'x', deliver: 'slack', agent: 'none' };
  assert.deepEqual(applyFlags(direct, { agent: 'none' }), stored);
  assert.deepEqual(applyFlags(stored, { deliverOnly: true }), direct);
  assert.deepEqual(applyFlags(stored, { prompt: 'x' }), stored);
  assert.deepEqual(applyFlags(stored, { deliverOnly: false }), stored);
  assert.deepEqual(applyFlags({ ...direct, agent: 'x' }, { deliverOnly: true }), { ...direct, agent: 'x' });
  assert.deepEqual(applyFlags(direct, { agent: '' }), direct);
});
