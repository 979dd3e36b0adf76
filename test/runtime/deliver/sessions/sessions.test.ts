/** Tests sessions: safe names for any chat id, turns that never interleave, a mirror that never fails a delivery. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, chmodSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import {
  appendTurn,
  chatIdOf,
  fileName,
  fileSessions,
  listSessions,
  openSession,
  readTurns,
  sessionPath,
} from '../../../../runtime/deliver/sessions.ts';
import { anyText } from '../../../helpers/any-text.ts';
import { createTestDeliverer, deliveryTo } from '../../../helpers/deliveries.ts';
import { startFakeHttp } from '../../../helpers/fake-http.ts';
import { LOADER, moduleUrl } from '../../../helpers/node-argv.ts';
import { bindingOf, shippedTarget } from '../../../helpers/targets.ts';
import { tempDir } from '../../../helpers/temp-dir.ts';

describe('file names', () => {
  test('an ordinary chat id is its own name', () => {
    for (const id of ['-1001234', '42', 'C0123', 'a.b-c_d@e+f=']) assert.equal(fileName(id), `${id}.jsonl`);
  });

  test('any chat id maps to its own plain file in the folder', () => {
    const id = fc.oneof(
      fc.constantFrom(
        '..',
        '.',
        '/',
        '../../etc/passwd',
        'a/b',
        '\0',
        '%2F',
        '.hidden',
        'con',
        '😀',
        '!r:s',
        'x'.repeat(5000),
      ),
      anyText({ minLength: 1 }).map((text) => text.replace(/\p{Surrogate}/gu, '?')),
    );
    fc.assert(
      fc.property(id, id, (one, other) => {
        const path = sessionPath({ home: '/home', target: 't', chatId: one });
        assert.equal(dirname(resolve(path)), '/home/sessions/t');
        assert.match(basename(path), /^[A-Za-z0-9_+@=,%~-][A-Za-z0-9_+@=,.%~-]*\.jsonl$/);
        assert.ok(basename(path).length <= 255);
        if (one !== other) assert.notEqual(fileName(one), fileName(other));
        if (one.length < 50) assert.equal(chatIdOf(fileName(one)), one);
      }),
      { numRuns: 500, seed: 3 },
    );
  });

  test('files that are not sessions have no chat id', () => {
    for (const name of ['notes.txt', '%zz.jsonl', '.jsonl.swp']) assert.equal(chatIdOf(name), null);
  });
});

test('a session is opened once, listed and read, only by its owner', async (t) => {
  const home = tempDir(t);
  const chat = { home, target: 'telegram', chatId: '-100' };
  assert.deepEqual(await listSessions(home), []);
  const { path, created } = await openSession(chat);
  assert.equal(path, join(home, 'sessions', 'telegram', '-100.jsonl'));
  assert.equal(created, true);
  assert.equal(statSync(path).mode & 0o777, 0o600);
  assert.equal(statSync(dirname(path)).mode & 0o777, 0o700);
  await appendTurn(path, { role: 'user', content: 'a\nb', at: '2026-01-01T00:00:00.000Z' });
  assert.equal((await openSession(chat)).created, false);
  assert.equal(readFileSync(path, 'utf8'), '{"role":"user","content":"a\\nb","at":"2026-01-01T00:00:00.000Z"}\n');
  appendFileSync(path, '{"role":"us');
  assert.equal((await readTurns(path))?.length, 1);
  assert.equal(await readTurns(`${path}.other`), null);
  const [summary] = await listSessions(home);
  assert.deepEqual([summary?.target, summary?.chat_id, summary?.turns], ['telegram', '-100', 1]);
});

test('an unreadable session is listed with the reason, and the others are listed too', async (t) => {
  const home = tempDir(t);
  const { path } = await openSession({ home, target: 'telegram', chatId: '2' });
  await appendTurn(path, { role: 'user', content: 'hi', at: '2026-01-01T00:00:00.000Z' });
  mkdirSync(join(dirname(path), '1.jsonl'));
  const listed = await listSessions(home);
  assert.deepEqual(
    listed.map(({ chat_id, turns, problem }) => [chat_id, turns, problem]),
    [
      ['1', null, `${join(dirname(path), '1.jsonl')} is a folder, not a file`],
      ['2', 1, null],
    ],
  );
});

test('a session of an earlier version is found under every name of its target', async (t) => {
  const home = tempDir(t);
  const { path } = await openSession({ home, target: 'messenger_a', chatId: '5' });
  const sessions = fileSessions(() => home);
  const turn = { role: 'user', content: 'hi', at: '2026-01-01T00:00:00.000Z' };
  for (const target of ['telegram', 'messenger_a']) {
    const chat = { profile: 'default', target, chatId: '5' };
    assert.deepEqual(await sessions.open(chat), { path, created: false });
    assert.equal(await sessions.append(chat, turn), true);
  }
  assert.equal((await sessions.read({ profile: 'default', target: 'telegram', chatId: '5' }))?.length, 2);
  const other = await sessions.open({ profile: 'default', target: 'messenger_a', chatId: '6' });
  assert.equal(other.path, join(home, 'sessions', 'telegram', '6.jsonl'));
  assert.deepEqual(
    (await sessions.list('default')).map(({ target, chat_id }) => [target, chat_id]),
    [
      ['telegram', '5'],
      ['telegram', '6'],
    ],
  );
});

test('turns of several processes never interleave', async (t) => {
  const home = tempDir(t);
  const { path } = await openSession({ home, target: 't', chatId: '1' });
  const module = moduleUrl(new URL('../../../../runtime/deliver/sessions.js', import.meta.url));
  const script = `
    const { appendTurn } = await import(${JSON.stringify(module)});
    const content = process.argv[1].repeat(20000);
    await Promise.all(Array.from({ length: 20 }, () => appendTurn(process.argv[2], { role: 'user', content, at: 'x' })));`;
  const children = ['a', 'b', 'c'].map((letter) =>
    spawn(process.execPath, [...LOADER, '--input-type=module', '-e', script, letter, path], { stdio: 'inherit' }),
  );
  const exits = await Promise.all(children.map((child) => once(child, 'exit')));
  for (const exit of exits) assert.deepEqual(exit, [0, null]);
  const turns = (await readTurns(path)) ?? [];
  assert.equal(turns.length, 60);
  assert.equal(readFileSync(path, 'utf8').split('\n').length, 61);
  for (const { content } of turns) assert.match(content, /^(?:a{20000}|b{20000}|c{20000})$/);
});

describe('the mirror', () => {
  async function setUp(t: Parameters<typeof tempDir>[0] & Parameters<typeof startFakeHttp>[0], status = 200) {
    const home = tempDir(t);
    const server = await startFakeHttp(t, () => ({ status, body: { ok: status === 200, result: { message_id: 1 } } }));
    const binding = bindingOf({ token: '1:canary' }, { api_base: server.url, home_channel: '-100' });
    const targets = [shippedTarget('telegram'), shippedTarget('log')];
    const bindings = { default: { telegram: binding }, work: { telegram: binding } };
    return { home, deliverer: createTestDeliverer(t, { targets, bindings, home }) };
  }
  const mirrored = deliveryTo('telegram', { mirror_to_session: true, text: 'Build\nfailed' });

  test('appends the delivered text as a labelled user turn of its chat', async (t) => {
    const { home, deliverer } = await setUp(t);
    const { path } = await openSession({ home, target: 'telegram', chatId: '-100' });
    assert.equal((await deliverer.deliver(mirrored)).kind, 'ok');
    const [turn] = (await readTurns(path)) ?? [];
    assert.equal(turn?.role, 'user');
    assert.equal(turn?.content, '[Webhook delivery: builds]\nBuild\nfailed');
    assert.match(turn?.at ?? '', /^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
    await deliverer.deliver({ ...mirrored, mirror_to_session: false });
    await deliverer.deliver({ ...mirrored, extra: { chat_id: '7' } });
    assert.equal((await readTurns(path))?.length, 1);
  });

  test('does nothing if the chat has no session, or the delivery failed', async (t) => {
    const without = await setUp(t);
    assert.equal((await without.deliverer.deliver(mirrored)).kind, 'ok');
    assert.deepEqual(await listSessions(without.home), []);
    const failing = await setUp(t, 400);
    const { path } = await openSession({ home: failing.home, target: 'telegram', chatId: '-100' });
    assert.equal((await failing.deliverer.deliver(mirrored)).kind, 'permanent');
    assert.deepEqual(await readTurns(path), []);
  });

  test("writes only to the delivery's own profile", async (t) => {
    const { home, deliverer } = await setUp(t);
    const own = await openSession({ home, target: 'telegram', chatId: '-100' });
    const work = await openSession({ home: join(home, 'profiles', 'work'), target: 'telegram', chatId: '-100' });
    await deliverer.deliver({ ...mirrored, profile: 'work' });
    assert.deepEqual([(await readTurns(own.path))?.length, (await readTurns(work.path))?.length], [0, 1]);
  });

  test('never fails a delivery', async (t) => {
    const { home, deliverer } = await setUp(t);
    mkdirSync(join(home, 'sessions', 'telegram', '-100.jsonl'), { recursive: true });
    assert.equal((await deliverer.deliver(mirrored)).kind, 'ok');
    assert.equal(deliverer.log.filter(({ level }) => level === 'warn').length, 1);
    assert.equal((await deliverer.deliver({ ...mirrored, target: 'log' })).kind, 'ok');
    if (process.getuid?.() === 0) return;
    const locked = join(home, 'sessions', 'telegram', '9.jsonl');
    writeFileSync(locked, '');
    chmodSync(locked, 0o400);
    assert.equal((await deliverer.deliver({ ...mirrored, extra: { chat_id: '9' } })).kind, 'ok');
  });
});
