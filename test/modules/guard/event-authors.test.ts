/** Who caused an event, as the shipped sources say, and where a budget per author cannot count. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createFormSet } from '../../../modules/payloads/compiler/shapes/form-set.ts';
import { readShippedShape } from '../../../modules/payloads/compiler/shapes/shape-file.ts';
import { linkLoop } from '../../../runtime/table/link-loop.ts';
import type { RoutePlan } from '../../../schemas/generated/types.ts';
import { loadShippedSources } from '../../helpers/catalog-sources.ts';
import { compileConfig } from '../../helpers/compile.ts';

const { lowered } = loadShippedSources();
const schemes = Object.fromEntries(lowered.map(({ name, plan }) => [name, plan]));
const route = { profile: 'default', insecure: false } as RoutePlan;
const loop = linkLoop(route, { schemes, profiles: {} } as never);

/** Fields of Bitbucket Server, of items of a batch, and of commands: the shapes do not have them. */
const ELSEWHERE: readonly string[] = [
  'bitbucket actor.name',
  'meta value.messages.0.from',
  'meta value.calls.0.from',
  'slack user.id',
  'slack user_id',
];

test('every field of an author is in the payloads that its sender documents', () => {
  const absent = lowered.flatMap(({ name, plan }) => {
    const shape = plan.author === undefined ? null : readShippedShape(name);
    if (shape === null) return [];
    const forms = createFormSet(shape);
    const has = (path: readonly string[]): boolean => forms.find(path).some(({ kind }) => kind === 'node');
    return (plan.author?.paths ?? []).filter((path) => !has(path)).map((path) => `${name} ${path.join('.')}`);
  });
  assert.deepEqual(absent, ELSEWHERE);
});

const user = { id: 7, username: 'Mallory' };
const cases: readonly (readonly [source: string, payload: object, name: string | null, isPerson?: boolean])[] = [
  ['github', { sender: { login: 'Mallory', type: 'User' } }, 'mallory', true],
  ['github', { sender: { login: 'MALLORY', type: 'Bot' } }, 'mallory'],
  ['gitlab', { object_kind: 'note', user }, 'mallory'],
  ['gitlab', { object_kind: 'push', user_username: 'mallory', user_id: 7 }, 'mallory'],
  ['gitlab-signing', { object_kind: 'push', user: { username: '' }, user_username: 'mallory' }, 'mallory'],
  ['gitlab', { object_kind: 'push', commits: [{ author: { name: 'Alice' } }] }, null],
  ['gitea', { sender: { id: 1, login: 'mallory' } }, 'mallory'],
  ['bitbucket', { actor: { type: 'user', uuid: '{0F}', nickname: 'm' } }, '{0f}', true],
  ['bitbucket-server', { actor: { name: 'admin', type: 'NORMAL' } }, 'admin'],
  ['linear', { actor: { id: 'u1', type: 'user', name: 'M' } }, 'u1', true],
  ['slack', { event: { type: 'message', user: 'U2' } }, 'u2'],
  ['slack', { event: { type: 'message', subtype: 'message_changed', message: { user: 'U2', text: 'x' } } }, 'u2'],
  ['slack', { event: { type: 'team_join', user: { id: 'U2' } } }, 'u2'],
  ['slack', { event: { type: 'message', bot_id: 'B1' } }, 'b1'],
  ['slack', { command: '/x', user_id: 'U2', user_name: 'alice' }, 'u2'],
  ['discord', { type: 2, member: { user: { id: '80' } } }, '80'],
  ['discord', { type: 2, user: { id: '80' } }, '80'],
  ['telegram', { edited_message: { from: { id: 12 }, text: 'x' } }, '12'],
  ['meta', { field: 'messages', value: { messages: [{ from: '49151' }] } }, '49151'],
  ['stripe', { data: { object: { customer: 'cus_1' } } }, null],
];

for (const [source, payload, name, isPerson = false] of cases) {
  test(`an event of ${source}: ${JSON.stringify(payload).slice(0, 60)}`, () => {
    const author = loop.authorOf(source, payload);
    assert.deepEqual([author.name, author.isPerson], [name, isPerson]);
  });
}

const reported = (keys: string): readonly string[] =>
  compileConfig(
    `platforms: { webhook: { enabled: true, routes: { a: { ${keys}, prompt: x, budget: { runs: 9, per_author: 2, per: day } } } } }\n`,
  )
    .diagnostics.filter(({ rule, message }) => rule === 'budget-limit' && message.includes('author'))
    .map(({ rule }) => rule);

test('a budget per author is reported where no sender names one', () => {
  const named = ['source: github', 'source: gitlab', 'source: slack', 'auth: [generic-v1, github]'];
  const unnamed = ['source: stripe', 'source: generic-v2', 'auth: [generic-v1]', 'source: grafana'];
  for (const keys of named) assert.deepEqual(reported(`${keys}, secret: env:S`), [], keys);
  for (const keys of unnamed) assert.equal(reported(`${keys}, secret: env:S`).length, 1, keys);
  assert.equal(reported('secret: INSECURE_NO_AUTH').length, 1);
  assert.equal(reported('secret: INSECURE_NO_AUTH, source: github').length, 0);
});
