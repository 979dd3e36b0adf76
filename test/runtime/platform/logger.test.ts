import assert from 'node:assert/strict';
import { Writable } from 'node:stream';
import { describe, test } from 'node:test';
import { createLogger } from '../../../runtime/platform/logger.ts';
import { FakeClock, settle } from '../../helpers/fake-clock.ts';

function recorder() {
  const writes: string[] = [];
  const stream = new Writable({
    write(chunk, _encoding, done) {
      writes.push(String(chunk));
      done();
    },
  });
  return { writes, stream };
}

describe('createLogger', () => {
  test('writes JSON lines with level, ISO time, fields and message', async () => {
    const { writes, stream } = recorder();
    const clock = new FakeClock(Date.UTC(2026, 0, 2, 3, 4, 5, 6));
    const log = createLogger({ stream, level: 'info', pretty: false, colour: false, clock });
    log.debug({}, 'hidden');
    log.info({ route: 'ci', reason: 'a\n"b"\u001b[0m' }, 'accepted');
    clock.advance(1);
    log.error({ err: new Error('boom') }, 'failed');
    await settle();
    const lines = writes
      .join('')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    assert.deepEqual(lines[0], {
      level: 'info',
      time: '2026-01-02T03:04:05.006Z',
      route: 'ci',
      reason: 'a\n"b"\u001b[0m',
      msg: 'accepted',
    });
    assert.equal(lines[1]?.time, '2026-01-02T03:04:05.007Z');
    assert.match(JSON.stringify(lines[1]?.err), /"message":"boom"/);
    assert.equal(lines.length, 2);
  });

  test('writes once a turn, in order, and immediately when flushed', async () => {
    const { writes, stream } = recorder();
    const log = createLogger({ stream, level: 'info', pretty: false, colour: false, clock: new FakeClock() });
    for (let i = 0; i < 3; i++) log.info({ i }, 'line');
    assert.equal(writes.length, 0);
    await settle();
    assert.equal(writes.length, 1);
    assert.deepEqual(writes.join('').match(/"i":\d/g), ['"i":0', '"i":1', '"i":2']);
    log.info({ i: 3 }, 'line');
    log.flush();
    assert.equal(writes.length, 2);
    await settle();
    assert.equal(writes.length, 2);
  });

  test('writes at most every few ms while it is busy', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const { writes, stream } = recorder();
    const clock = new FakeClock();
    const log = createLogger({ stream, level: 'info', pretty: false, colour: false, clock });
    for (let i = 0; i < 5; i++) {
      log.info({ i }, 'line');
      await settle(1);
    }
    assert.equal(writes.length, 1);
    t.mock.timers.tick(20);
    assert.equal(writes.length, 2);
    assert.equal(writes.join('').match(/"i":\d/g)?.length, 5);
  });

  test('writes a long turn in pieces', () => {
    const { writes, stream } = recorder();
    const log = createLogger({ stream, level: 'info', pretty: false, colour: false, clock: new FakeClock() });
    for (let i = 0; i < 20; i++) log.info({ text: 'x'.repeat(10_000) }, 'line');
    assert.ok(writes.length >= 2);
  });

  test('in pretty mode writes one readable line each, immediately', () => {
    const { writes, stream } = recorder();
    const log = createLogger({ stream, level: 'info', pretty: true, colour: false, clock: new FakeClock() });
    log.info({ route: 'ci', outcome: 'accepted', ms: 2 }, 'accepted');
    log.flush();
    assert.equal(writes.length, 1);
    assert.match(writes[0] ?? '', /^\d\d:\d\d:\d\d INFO {2}ci {2}accepted {2}ms=2\n$/);
  });

  test('in pretty mode omits empty values, shortens hashes, and puts a hint on its own line', () => {
    const { writes, stream } = recorder();
    const log = createLogger({ stream, level: 'info', pretty: true, colour: false, clock: new FakeClock() });
    log.info({ hash: 'ab'.repeat(32), routes: 2 }, 'table loaded');
    const refused = { route: 'ci', event: '', delivery_id: '', looked_for: ['x-a', 'x-b'], scheme: null };
    log.warn({ ...refused, hint: 'hookwright requests show i3p' }, 'invalid_signature');
    log.flush();
    const lines = writes
      .join('')
      .replace(/^\d\d:\d\d:\d\d /gm, '')
      .split('\n');
    assert.deepEqual(lines, [
      'INFO  table loaded  hash=abababababab  routes=2',
      'WARN  ci  invalid_signature  looked_for=x-a,x-b',
      '    hookwright requests show i3p',
      '',
    ]);
  });

  test('no value starts a new line or moves the cursor', () => {
    for (const pretty of [false, true]) {
      const { writes, stream } = recorder();
      const log = createLogger({ stream, level: 'info', pretty, colour: false, clock: new FakeClock() });
      log.info({ value: 'a\n{"level":"error"}\r\x1b[2J' }, 'x');
      log.flush();
      const text = writes.join('');
      assert.equal(text.indexOf('\n'), text.length - 1);
      assert.doesNotMatch(text.slice(0, -1), /[\x00-\x1f]/);
    }
  });
});
