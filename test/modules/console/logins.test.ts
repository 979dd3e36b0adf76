/** Ended logins: on several gateways, while the store is unavailable, and their limit. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { cookieName, Logins } from '../../../modules/console/runtime/access.ts';
import type { Credential } from '../../../runtime/table/link-people.ts';
import { FakeClock } from '../../helpers/fake-clock.ts';
import { silentLog } from '../../helpers/log.ts';
import { createMemoryStore } from '../../helpers/memory-store.ts';

const OPERATOR: Credential = { role: 'operator', name: null, token: 'token-of-the-operators' };
const TOKENS = [OPERATOR];
const PLAN = { host: '127.0.0.1', port: 8645, token: null, viewer_token: null, users: {} };
const NAME = cookieName(PLAN);

it('ends on every gateway of a store within a second, or when the gateway can read the store again', async () => {
  const clock = new FakeClock();
  const store = createMemoryStore();
  let isOut = false;
  let isFull = false;
  const read: typeof store.read = (query) => (isOut ? Promise.reject(new Error('away')) : store.read(query));
  const write: typeof store.write = (change) => (isFull ? Promise.reject(new Error('full')) : store.write(change));
  const one = new Logins({ store: { read: store.read, write }, clock, log: silentLog }, NAME);
  const other = new Logins({ store: { read, write: store.write }, clock, log: silentLog }, NAME);
  const cookie = `${NAME}=${one.begin(OPERATOR)}`;
  const login = await other.find(cookie, TOKENS);
  assert.ok(login);
  isOut = true;
  isFull = true;
  assert.equal(await one.end(login), false);
  assert.ok(await one.find(cookie, TOKENS));
  isFull = false;
  assert.equal(await one.end(login), true);
  assert.equal(await one.find(cookie, TOKENS), null);
  clock.advance(1000);
  assert.equal((await other.find(cookie, TOKENS))?.person.role, 'operator');
  isOut = false;
  clock.advance(1000);
  assert.equal(await other.find(cookie, TOKENS), null);
  clock.advance(12 * 3_600_000);
  assert.equal(await one.find(`${NAME}=${one.begin({ ...OPERATOR, token: 'another-token' })}`, TOKENS), null);
});

it('is bound to the person: a cookie ends if its token is removed, or becomes that of another person', async () => {
  const logins = new Logins({ store: createMemoryStore(), clock: new FakeClock(), log: silentLog }, NAME);
  const ann: Credential = { role: 'operator', name: 'ann', token: 'the-token-of-ann' };
  const bob: Credential = { role: 'operator', name: 'bob', token: 'the-token-of-bob' };
  const cookie = `${NAME}=${logins.begin(ann)}`;
  assert.equal((await logins.find(cookie, [bob, ann]))?.person.name, 'ann');
  assert.equal((await logins.find(cookie, [{ ...ann, role: 'viewer' }]))?.person.role, 'viewer');
  const others = [
    [],
    [bob],
    [{ ...bob, token: ann.token }],
    [{ ...ann, name: null }],
    [{ ...ann, token: 'a-new-token' }],
  ];
  for (const people of others) assert.equal(await logins.find(cookie, people), null);
});

it('has a cookie particular to it on each console of a host, by its port, path and name', async () => {
  const others = [
    { ...PLAN, port: 8646 },
    { ...PLAN, base_path: '/ops' },
    { ...PLAN, name: 'shop' },
  ].map(cookieName);
  assert.equal(new Set([NAME, ...others]).size, 4);
  assert.equal(cookieName({ ...PLAN }), NAME, 'a restart changes nothing');
  const context = { store: createMemoryStore(), clock: new FakeClock(), log: silentLog };
  const logins = new Logins(context, NAME);
  const value = logins.begin(OPERATOR);
  for (const name of [...others, `${NAME}0`, `x${NAME}`, 'hookwright_console'])
    assert.equal(await logins.find(`${name}=${value}`, TOKENS), null, name);
  const all = others.map((name) => `${name}=${logins.begin(OPERATOR)}`);
  assert.ok(await logins.find([...all, `${NAME}=${value}`].join('; '), TOKENS));
});
