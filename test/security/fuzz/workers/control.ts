/**
 * Fuzzes messages to the control socket of a whole gateway, by a program of the same user: any operation but `stop`, any input.
 * Each gets its result, or an error with a code and a message.
 */
import assert from 'node:assert/strict';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import fc from 'fast-check';
import { controlPaths } from '../../../../runtime/control/control-client.ts';
import { startGateway } from '../../../helpers/gateway.ts';
import { tempDir } from '../../../helpers/temp-dir.ts';
import { damaged, jsonOf } from '../damage.ts';
import { ODD_TEXTS, schemaWords } from '../words.ts';
import type { FuzzWorker } from '../worker.ts';
import { Closing, LOOP_MS } from '../worker.ts';

interface ControlCase {
  readonly method: string;
  readonly path: string;
  /** Unicode text. */
  readonly body: string;
}

const CONFIG =
  'platforms: { webhook: { enabled: true, secret: "a long enough secret", routes: { a: { prompt: x } } } }';

const SEEDS = [
  '{}',
  '{"drain_seconds":1}',
  '{"key":"morning-brief","values":{"time":"08:00","deliver":"local"}}',
  '{"key":"custom-reminder","values":{"what":"x","time":"08:00","recurrence":"everyday","deliver":"origin"},"origin":{"target":"log","chat_id":"1","thread_id":"2"},"name":"x","profile":"default","timezone":"UTC"}',
];
const WORDS = [
  ...['key', 'values', 'origin', 'name', 'profile', 'timezone', 'target', 'chat_id', 'time', 'deliver', 'recurrence'],
  ...['{', '}', '[', ']', ',', ':', '"', 'null', '1', 'true', 'default', 'morning-brief', 'log', 'local', 'telegram'],
  ...ODD_TEXTS,
];
const PATHS = ['/status', '/metrics', '/create_blueprint_job', '/blueprints/morning-brief/jobs', '/blueprints/x/jobs'];
/** Slow ones: a compile, and two seconds of waiting. */
const RARE = ['/reload', '/enroll'];
const ODD_PATHS = ['/', '/toString', '/__proto__', '/status?x', '/status/', '//status', '*', '/blueprints/../jobs'];

const message: fc.Arbitrary<ControlCase> = fc.record({
  method: fc.constantFrom('POST', 'POST', 'POST', 'GET', 'PUT'),
  path: fc.oneof(
    { weight: 60, arbitrary: fc.constantFrom(...PATHS) },
    { weight: 8, arbitrary: fc.constantFrom(...ODD_PATHS) },
    { weight: 1, arbitrary: fc.constantFrom(...RARE) },
  ),
  body: fc.oneof(
    damaged(SEEDS, WORDS),
    fc
      .dictionary(fc.constantFrom(...WORDS.slice(0, 11)), jsonOf(WORDS, 2), { maxKeys: 6 })
      .map((value) => JSON.stringify(value)),
    jsonOf([...WORDS, ...schemaWords()]).map((value) => JSON.stringify(value)),
  ),
});

interface Answered {
  readonly status: number;
  readonly type: string;
  readonly text: string;
}

function ask(socketPath: string, { method, path, body }: ControlCase): Promise<Answered> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-length': Buffer.byteLength(body) };
    const call = request({ socketPath, method, path, headers, agent: false }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
      });
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, type: response.headers['content-type'] ?? '', text }),
      );
    });
    call.on('error', reject);
    call.end(body);
  });
}

function check({ path }: ControlCase, { status, type, text }: Answered): void {
  // A busy machine may be late; the client repeats the call.
  if (status === 408) return;
  assert.ok(status === 200 || status === 400, `status ${status}: ${text.slice(0, 300)}`);
  if (type !== 'application/json') {
    assert.ok(path === '/metrics' && status === 200, text.slice(0, 100));
    return;
  }
  const value: unknown = JSON.parse(text);
  if (status === 200) return;
  const { code, message: said } = value as Record<string, unknown>;
  assert.deepEqual([typeof code, typeof said], ['string', 'string']);
}

export const control: FuzzWorker<readonly ControlCase[]> = {
  name: 'control',
  cases: fc.array(message, { minLength: 1, maxLength: 12 }),
  async open() {
    const closing = new Closing();
    const home = tempDir(closing);
    await startGateway({ after: closing.after }, { home, config: CONFIG });
    const { socket } = controlPaths(home, tmpdir());
    return {
      longestMs: LOOP_MS,
      sizeOf: (messages) => messages.length,
      close: () => closing.close(),
      async run(messages) {
        const answers = await Promise.all(messages.map((one) => ask(socket, one)));
        for (const [index, one] of messages.entries()) check(one, answers[index] as Answered);
      },
    };
  },
};
