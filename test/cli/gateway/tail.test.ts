import assert from 'node:assert/strict';
import {
  appendFileSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { PassThrough, Writable } from 'node:stream';
import { test } from 'node:test';
import { formatDuration } from '../../../cli/output/table.ts';
import { createServerLog, logFile, readSince, readTail } from '../../../cli/serve/server-log.ts';
import { contextFor, runInProcess, startInProcess } from '../../helpers/cli.ts';
import { tempDir } from '../../helpers/temp-dir.ts';

const tails: readonly (readonly [text: string, lines: number, expected: string])[] = [
  ['a\nb\nc\n', 2, 'b\nc\n'],
  ['a\nb\nc', 2, 'b\nc'],
  ['a\nb\n', 9, 'a\nb\n'],
  ['a\nb\n', 0, ''],
  ['', 3, ''],
  ['\n\n\n', 2, '\n\n'],
  [`${'x'.repeat(70_000)}\n${'y'.repeat(70_000)}\nz\n`, 2, `${'y'.repeat(70_000)}\nz\n`],
];
for (const [text, lines, expected] of tails) {
  test(`the last ${lines} lines of ${JSON.stringify(text.slice(0, 12))}`, (t) => {
    const path = join(tempDir(t), 'log');
    writeFileSync(path, text);
    assert.equal(readTail(path, lines).bytes.toString(), expected);
  });
}

test('following a log continues after additions, truncation and rotation', (t) => {
  const path = join(tempDir(t), 'log');
  writeFileSync(path, 'one\n');
  let { position } = readTail(path, 9);
  const next = (): string => {
    const tail = readSince(path, position);
    position = tail.position;
    return tail.bytes.toString();
  };
  assert.equal(next(), '');
  appendFileSync(path, 'two\n');
  assert.equal(next(), 'two\n');
  truncateSync(path);
  appendFileSync(path, '3\n');
  assert.equal(next(), '3\n');
  renameSync(path, `${path}.1`);
  assert.equal(next(), '');
  writeFileSync(path, 'four\n');
  assert.equal(next(), 'four\n');
});

test('a log file is rotated while the gateway writes it, and only its own', (t) => {
  const home = tempDir(t);
  const path = logFile(home);
  const other = join(home, 'other.log');
  mkdirSync(join(home, 'logs'));
  const logTo = (file: string) => {
    const stderr = new Writable({ write: (text, _encoding, done) => done(void appendFileSync(file, text)) });
    const log = createServerLog(contextFor({ home, context: { stderr } }), undefined, file);
    return (message: string): void => {
      log.info({}, message);
      log.flush();
    };
  };
  const LARGE = 32 * 1024 * 1024 + 1;
  const line = logTo(path);
  line('first');
  truncateSync(path, LARGE);
  const { position } = readTail(path, 0);
  line('second');
  line('third');
  assert.equal(statSync(`${path}.1`).size, LARGE);
  assert.match(readFileSync(`${path}.1`, 'utf8').slice(0, 200), /first/);
  const messages = (text: string): string[] => [...text.matchAll(/"msg":"(\w+)"/g)].map(([, message = '']) => message);
  assert.deepEqual(messages(readSince(path, position).bytes.toString()), ['second', 'third']);

  // If it cannot be moved, nothing is lost, and a later line tries again.
  renameSync(`${path}.1`, `${path}.2`);
  mkdirSync(`${path}.1`);
  truncateSync(path, LARGE);
  line('fourth');
  assert.equal(readFileSync(path).subarray(LARGE).includes('fourth'), true);
  rmdirSync(`${path}.1`);
  line('fifth');
  assert.ok(statSync(path).size > LARGE);
  truncateSync(path, 2 * LARGE);
  line('sixth');
  assert.deepEqual(messages(readFileSync(path, 'utf8')), ['sixth']);

  writeFileSync(other, '');
  truncateSync(other, LARGE);
  logTo(other)('seventh');
  assert.ok(statSync(other).size > LARGE);
});

test('gateway logs prints the end of the log and follows it until interrupted', async (t) => {
  const home = tempDir(t);
  const absent = await runInProcess(['gateway', 'logs'], { home });
  assert.equal(absent.code, 1);
  mkdirSync(join(home, 'logs'));
  writeFileSync(join(home, 'logs', 'gateway.log'), 'one\ntwo\n');
  assert.deepEqual(await runInProcess(['gateway', 'logs', '-n', '1'], { home }), {
    code: 0,
    stdout: 'two\n',
    stderr: '',
  });
  const running = startInProcess(['gateway', 'logs', '--follow'], { home });
  await new Promise((resolve) => setImmediate(resolve));
  appendFileSync(join(home, 'logs', 'gateway.log'), 'three\n');
  while (!running.stdout().includes('three')) await new Promise((resolve) => setTimeout(resolve, 20));
  running.signal('SIGINT');
  assert.deepEqual(await running.done, { code: 0, stdout: 'one\ntwo\nthree\n', stderr: '' });
});

test('on a terminal an entry is one readable line; in a pipe it stays JSON', async (t) => {
  const home = tempDir(t);
  mkdirSync(join(home, 'logs'));
  const entry = {
    ...{
      level: 'warn',
      time: new Date(2026, 0, 2, 3, 4, 5).toISOString(),
      route: 'ci',
      event: 'push',
      delivery_id: 'a\u001b[2J',
    },
    ...{
      outcome: 'invalid_signature',
      ms: 1.5,
      reason: 'missing_signature',
      hint: 'look at it',
      msg: 'invalid_signature',
    },
  };
  const json = `${JSON.stringify(entry)}\n`;
  writeFileSync(join(home, 'logs', 'gateway.log'), `not an entry\u001b\n${json}`);
  const stdout = Object.assign(new PassThrough(), { isTTY: true });
  await runInProcess(['gateway', 'logs'], { home, context: { stdout } });
  assert.equal(
    String(stdout.read()),
    'not an entry\ufffd\n2026-01-02 03:04:05 WARN  ci  push  "a\\u001b[2J"  invalid_signature  ms=1.5  reason=missing_signature\n    look at it\n',
  );
  assert.equal((await runInProcess(['gateway', 'logs', '-n', '1'], { home })).stdout, json);
});

for (const verb of ['status', 'stop', 'reload', 'metrics']) {
  test(`gateway ${verb} with nothing running exits 1, and names the command that starts one`, async (t) => {
    const result = await runInProcess(['gateway', verb], { home: tempDir(t) });
    assert.equal(result.code, 1);
    assert.match(result.stderr, /\n.*hookwright gateway start/);
  });
}

test('durations have their two largest units', () => {
  assert.equal(formatDuration(0), '0 s');
  assert.equal(formatDuration(61_000), '1 min 1 s');
  assert.equal(formatDuration(2 * 86_400_000 + 5 * 60_000), '2 d 5 min');
});
