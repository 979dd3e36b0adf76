import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import type { LoggerOptions } from '../../runtime/logger.ts';
import { createLogger } from '../../runtime/logger.ts';

const HOSTILE = 'a\n{"level":"error"}\r\x1b[2J\x9b31m';

function logged(options: Partial<LoggerOptions>, write: (log: ReturnType<typeof createLogger>) => void): string {
  const stream = new PassThrough();
  write(createLogger({ stream, level: 'info', pretty: false, colour: false, ...options }));
  return String(stream.read() ?? '');
}

test('for a pipe, one JSON object a line with level, time, fields and message', () => {
  const text = logged({}, (log) => log.warn({ route: 'ci', ms: 1.5 }, 'accepted'));
  const { time, ...line } = JSON.parse(text);
  assert.deepEqual(line, { level: 'warn', route: 'ci', ms: 1.5, msg: 'accepted' });
  assert(!Number.isNaN(Date.parse(time)));
  assert(text.endsWith('}\n'));
});

test('for people, one line with the message and the fields', () => {
  const text = logged({ pretty: true }, (log) => log.info({ route: 'ci', ms: 1.5 }, 'accepted'));
  assert.match(text, /^\[\d\d:\d\d:\d\d\.\d{3}\] INFO: accepted \{"route":"ci","ms":1\.5\}\n$/);
});

test('no value begins a line of its own or moves the cursor', () => {
  for (const pretty of [false, true]) {
    const text = logged({ pretty }, (log) => log.info({ value: HOSTILE }, 'x'));
    assert.equal(text.indexOf('\n'), text.length - 1);
    assert.doesNotMatch(text.slice(0, -1), /[\x00-\x1f]/);
  }
});

test('lines below the level are not written', () => {
  assert.equal(
    logged({ level: 'warn' }, (log) => log.info({}, 'x')),
    '',
  );
  assert.notEqual(
    logged({ level: 'debug' }, (log) => log.debug({}, 'x')),
    '',
  );
});

test('an error is logged with its stack, on one line', () => {
  for (const pretty of [false, true]) {
    const text = logged({ pretty }, (log) => log.error({ err: new Error('broken') }, 'a request failed'));
    assert.match(text, /broken/);
    assert.match(text, /logger\.test\.ts/);
    if (!pretty) assert.equal(text.indexOf('\n'), text.length - 1);
  }
});
