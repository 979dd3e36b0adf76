/**
 * Fuzzes raw bytes over real connections: framing, paths, methods and timing of a hostile client. All responses are documented,
 * and no unsigned request reaches the dispatcher.
 */
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import fc from 'fast-check';
import { systemClock } from '../../../../runtime/platform/clock.ts';
import { checkAnswer, readAnswer } from '../answers.ts';
import { openGateway } from '../bench-gateway.ts';
import { exchange } from '../connection.ts';
import { damaged, latin1 } from '../damage.ts';
import { ODD_TEXTS, sourceWords } from '../words.ts';
import type { FuzzWorker } from '../worker.ts';
import { Closing, LOOP_MS } from '../worker.ts';

interface RawConnection {
  /** One character a byte. */
  readonly text: string;
  /** Positions at which the text is cut, as shares of it. */
  readonly cuts: readonly number[];
  /** The client closes its side after everything is sent. */
  readonly end: boolean;
}

const KEY = 'a key of the harness, long enough';
const NOW = 1_700_000_000_000;

const CONFIG = `
public_url: https://hooks.example.test
platforms:
  telegram: { enabled: true, token: "1:x" }
  webhook:
    enabled: true
    secret: ${KEY}
    rate_limit: 1000000
    max_body_bytes: 4096
    routes:
      agent: { prompt: "{__raw__}" }
      direct: { prompt: "{__raw__}", deliver: telegram, deliver_only: true, deliver_extra: { chat_id: "1" } }
      grouped: { prompt: "{__raw__}", coalesce: { key: "{id}" } }
      filtered: { prompt: "{__raw__}", events: ["pull_*", push], filters: { field: id, regex: "^[0-9]+$" } }
      off: { prompt: "{__raw__}", enabled: false }
      slack: { source: slack, prompt: "{__raw__}" }
      meta: { source: meta, verify_token: the-word-of-the-operator, prompt: "{__raw__}" }
      trello: { source: trello, prompt: "{__raw__}" }
`;

const hex = (text: string): string => createHmac('sha256', KEY).update(text).digest('hex');

/** Bodies that the harness signs: no other may be accepted. */
const BODIES = ['{"id":1,"action":"opened"}', '{"id":2,"text":"second"}', `{"id":3,"pad":"${'x'.repeat(900)}"}`];

function request(line: string, headers: readonly string[], body = ''): string {
  return [line, 'Host: hooks.example.test', ...headers, '', body].join('\r\n');
}

const framed = (body: string): string => `Content-Length: ${Buffer.byteLength(body)}`;

function signedRequests(body: string): string[] {
  const hub = `X-Hub-Signature-256: sha256=${hex(body)}`;
  const v2 = [`X-Webhook-Timestamp: ${NOW / 1000}`, `X-Webhook-Signature-V2: ${hex(`${NOW / 1000}.${body}`)}`];
  const half = Math.ceil(body.length / 2);
  const [first, second] = [body.slice(0, half), body.slice(half)];
  const chunks = `${first.length.toString(16)}\r\n${first}\r\n${second.length.toString(16)};x=y\r\n${second}\r\n0\r\nTrailer: x\r\n\r\n`;
  return [
    request('POST /webhooks/agent HTTP/1.1', ['Content-Type: application/json', hub, framed(body)], body),
    request('POST /webhooks/direct?x=1 HTTP/1.1', [...v2, framed(body)], body),
    request('POST /webhooks/grouped HTTP/1.0', [hub, framed(body)], body),
    request('POST /webhooks/filtered HTTP/1.1', ['X-GitHub-Event: push', hub, framed(body)], body),
    request('POST /webhooks/agent HTTP/1.1', [hub, 'Transfer-Encoding: chunked'], chunks),
    request('POST /webhooks/agent HTTP/1.1', [hub, 'Expect: 100-continue', framed(body)], body),
    request('POST http://hooks.example.test/webhooks/agent HTTP/1.1', [hub, framed(body)], body),
    request('POST /webhooks/off HTTP/1.1', [hub, framed(body)], body),
  ];
}

const UNSIGNED = [
  request('GET /health HTTP/1.1', []),
  request('HEAD /blueprints HTTP/1.1', ['Connection: close']),
  request('GET /blueprints/morning-brief HTTP/1.1', ['If-None-Match: *']),
  request('GET /webhooks/meta?hub.mode=subscribe&hub.verify_token=x&hub.challenge=y HTTP/1.1', []),
  request('HEAD /webhooks/trello HTTP/1.1', []),
  request(
    'POST /webhooks/slack HTTP/1.1',
    [framed('{"type":"url_verification","challenge":"x"}')],
    '{"type":"url_verification","challenge":"x"}',
  ),
  request('OPTIONS * HTTP/1.1', []),
  request('CONNECT hooks.example.test:443 HTTP/1.1', []),
  request('GET /webhooks/agent HTTP/1.1', ['Connection: Upgrade', 'Upgrade: websocket']),
  request('PRI * HTTP/2.0', [], 'SM\r\n\r\n'),
  request('POST /p/default/webhooks/agent HTTP/1.1', [framed('{}')], '{}'),
  '\x16\x03\x01\x00\xc8\x01\x00\x00\xc4\x03\x03',
];

const SEEDS = [
  ...BODIES.flatMap(signedRequests),
  ...UNSIGNED,
  `${UNSIGNED[0]}${signedRequests(BODIES[0] ?? '')[0]}${UNSIGNED[0]}`,
];

const WORDS = [
  ...ODD_TEXTS,
  ...['\r\n', '\r', '\n', '\r\n\r\n', ' ', ':', '\0', '\x80', '\xff', ';', ',', '0\r\n\r\n', 'ffffffffffffffff\r\n'],
  ...['Transfer-Encoding: chunked\r\n', 'Transfer-Encoding: gzip, chunked\r\n', 'Transfer-Encoding : chunked\r\n'],
  ...['Content-Length: 0\r\n', 'Content-Length: 5\r\n', 'Content-Length: 99999\r\n', 'Content-Length: -1\r\n'],
  ...[
    'Content-Encoding: gzip\r\n',
    'Content-Type: application/x-www-form-urlencoded\r\n',
    'Content-Type: text/xml\r\n',
  ],
  ...[
    'Expect: 100-continue\r\n',
    'Expect: x\r\n',
    'Connection: close\r\n',
    'Connection: keep-alive\r\n',
    'Host: x\r\n',
  ],
  ...[
    'Upgrade: h2c\r\n',
    'Trailer: x\r\n',
    'TE: trailers\r\n',
    'Origin: https://x.example\r\n',
    'X-Forwarded-For: 1\r\n',
  ],
  ...['GET ', 'POST ', 'HEAD ', 'PATCH ', ' HTTP/1.0', ' HTTP/1.1', ' HTTP/9.9', '/webhooks/', '/p/x/webhooks/', '//'],
  ...['/health', '/blueprints', '?', '#', '%2f', '/./', '/../', 'http://x/', '*', 'localhost'],
  ...sourceWords().headers.map((name) => `${name}: x\r\n`),
];

const connection: fc.Arbitrary<RawConnection> = fc.record({
  text: damaged(
    SEEDS,
    WORDS.map((word) => Buffer.from(word, 'utf8').toString('latin1')),
    5,
  ),
  cuts: fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 3 }),
  end: fc.boolean(),
});

function pieces({ text, cuts }: RawConnection): Buffer[] {
  const places = [0, ...cuts.map((share) => Math.floor(share * text.length)).sort((a, b) => a - b), text.length];
  return places.slice(1).map((place, index) => latin1(text.slice(places[index], place)));
}

/** Bodies as `{__raw__}` renders them. */
const GENUINE = new Set(BODIES.map((body) => JSON.stringify(JSON.parse(body), null, 2)));

/** Methods in a text, for responses to HEAD without a body: if one is possible, both readings are accepted. */
function checkAnswers(sent: string, received: Buffer): void {
  const mayBeHead = sent.includes('HEAD');
  let rest = received;
  while (rest.length > 0) {
    let read = readAnswer(rest, false);
    if (mayBeHead && (read === null || !isAnswerNext(read.rest))) read = readAnswer(rest, true);
    assert.ok(read !== null, `not a whole answer: ${rest.toString('latin1').slice(0, 300)}`);
    checkAnswer(read.answer);
    rest = read.rest;
  }
}

const isAnswerNext = (rest: Buffer): boolean => rest.length === 0 || rest.toString('latin1', 0, 9) === 'HTTP/1.1 ';

export const http: FuzzWorker<readonly RawConnection[]> = {
  name: 'http',
  cases: fc.array(connection, { minLength: 1, maxLength: 100, size: 'max' }),
  async open() {
    const closing = new Closing();
    const clock = { ...systemClock, now: () => NOW };
    const { port, dispatcher } = await openGateway(closing, CONFIG, { clock });
    return {
      longestMs: LOOP_MS,
      sizeOf: (connections) => connections.length,
      close: () => closing.close(),
      async run(connections) {
        const answers = await Promise.all(connections.map((one) => exchange(port, pieces(one), one.end)));
        for (const [index, received] of answers.entries()) checkAnswers(connections[index]?.text ?? '', received);
        for (const { dispatch } of dispatcher.handed.splice(0))
          assert.ok(GENUINE.has(dispatch.prompt), `taken without a signature: ${dispatch.prompt.slice(0, 200)}`);
      },
    };
  },
};
