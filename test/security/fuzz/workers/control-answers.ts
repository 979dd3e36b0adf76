/**
 * Fuzzes answers to the command line from any process on the control socket. Each is a result, or an error that the command
 * line can report; none is an internal error.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { join } from 'node:path';
import fc from 'fast-check';
import { callControl } from '../../../../runtime/control/control-client.ts';
import { tempDir } from '../../../helpers/temp-dir.ts';
import { damaged, jsonOf, latin1 } from '../damage.ts';
import { ODD_TEXTS } from '../words.ts';
import type { FuzzWorker } from '../worker.ts';
import { Closing, LOOP_MS } from '../worker.ts';

interface AnswerCase {
  /** One character a byte. */
  readonly text: string;
}

const answer = (status: string, body: string): string =>
  `HTTP/1.1 ${status}\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;

const SEEDS = [
  answer('200 OK', '{"pid":1,"url":"http://127.0.0.1:1","state":"serving"}'),
  answer('400 Bad Request', '{"code":"refused","message":"no"}'),
  answer('500 Internal Server Error', '{"code":"failed","message":"a bug"}'),
  answer('200 OK', 'null'),
  answer('404 Not Found', '<html>'),
  'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n',
  'HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n',
  'HTTP/1.1 100 Continue\r\n\r\n',
  '',
];
const WORDS = [
  '\r\n',
  '\r\n\r\n',
  '{',
  '}',
  '[',
  '"',
  ':',
  'null',
  '200',
  '400',
  '204',
  '999',
  'Content-Length: 5\r\n',
  ...ODD_TEXTS,
];
const asBytes = (text: string): string => Buffer.from(text, 'utf8').toString('latin1');

/** Errors that a command reports in its own words. */
const TOLD = new Set(['ControlError', 'ControlCallError', 'NotRunningError']);

export const controlAnswers: FuzzWorker<AnswerCase> = {
  name: 'control-answers',
  cases: fc.record({
    text: fc.oneof(
      damaged(SEEDS, WORDS.map(asBytes)),
      jsonOf(WORDS).map((value) => answer('400 Bad Request', asBytes(JSON.stringify(value)))),
    ),
  }),
  async open() {
    const closing = new Closing();
    const path = join(tempDir(closing), 'c.sock');
    let text = '';
    const server = createServer((socket) => {
      socket.on('error', () => {});
      socket.once('data', () => socket.end(latin1(text)));
    });
    server.listen(path);
    await once(server, 'listening');
    closing.after(() => new Promise((resolve) => server.close(resolve)));
    return {
      longestMs: LOOP_MS,
      close: () => closing.close(),
      async run(one) {
        text = one.text;
        const error = await callControl(path, 'status', {}, 1000).then(
          () => null,
          (reason: unknown) => reason,
        );
        if (error === null) return;
        assert.ok(error instanceof Error && TOLD.has(error.name), String(error instanceof Error ? error.stack : error));
        assert.equal(typeof error.message, 'string');
      },
    };
  },
};
