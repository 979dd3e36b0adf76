/**
 * Fuzzes bodies of a verified sender: JSON and forms of any shape and size, through parser, event globs, filters, templates and
 * addresses. Each is accepted, ignored or rejected with a documented response, and accepted ones can be stored.
 */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { schemaValidator } from '../../../helpers/schema-validator.ts';
import { checkAnswer } from '../answers.ts';
import { openGateway } from '../bench-gateway.ts';
import { KeptConnection } from '../connection.ts';
import { damaged, jsonOf, latin1 } from '../damage.ts';
import { ODD_TEXTS } from '../words.ts';
import type { FuzzWorker } from '../worker.ts';
import { Closing, LOOP_MS } from '../worker.ts';

interface Repeated {
  /** One character a byte. */
  readonly text: string;
  readonly times: number;
}

interface BodyCase {
  readonly route: string;
  readonly type: string | null;
  readonly event: string | null;
  /** Joined, each repeated this often. */
  readonly parts: readonly Repeated[];
}

const CONFIG = `
platforms:
  telegram: { enabled: true, token: "1:x", home_channel: "1" }
  webhook:
    enabled: true
    secret: INSECURE_NO_AUTH
    rate_limit: 1000000
    routes:
      plain: {}
      dump: { prompt: "{__raw__} {a} {a.b.0.c} {__proto__} {script_output} {event_type} {delivery_id}" }
      globs: { prompt: "{a}", events: ["*", "*.*.*.*", "a*b*c*d*e", "pull_*", "[a-z]?", "{push,issue*}", "!x"] }
      grouped: { prompt: "{a}", coalesce: { key: "{id}-{a.b}" } }
      address: { prompt: "{a}", deliver: telegram, deliver_only: true, deliver_extra: { chat_id: "{id}", message_thread_id: "{a.b}" } }
      stars: { prompt: "{a}", events: ["*a*a*a*a*a*a*a*b", "*.*.*.*.*.*x"] }
      filters:
        prompt: "{payload.a}"
        filters:
          any:
            - { field: a, regex: "(a+)+$|^(.|\\\\n)*x{1,50}$" }
            - { field: headers.X-Forgea-Event, contains: a }
            - { field: payload.a.b, in: [1, "a", null, [1], { a: 1 }] }
            - { field: a, equals: { a: [1, { b: null }] } }
            - { not: { all: [{ field: __proto__.a, exists: true }, { field: id, missing: true }] } }
`;

const WORDS = [
  ...['a', 'b', 'id', 'type', 'event_type', 'event', 'payload', 'action', 'script_output', '0', '-0', '1e400'],
  ...[
    '{',
    '}',
    '[',
    ']',
    ',',
    ':',
    '"',
    '\\',
    '\\u0000',
    '\\ud800',
    '\\"',
    'null',
    'true',
    '&',
    '=',
    '%',
    '%00',
    '%ff',
    '+',
  ],
  ...ODD_TEXTS,
];
const SEEDS = [
  '{"a":{"b":[{"c":1}]},"id":"1","event_type":"push"}',
  '{"payload":{"a":"x","id":2},"type":"a.b.c"}',
  '[1,[2,[3,{"a":null}]]]',
  '"text"',
  'payload={"a":1}&b=2',
  'payload=%7B%22a%22%3A1%7D',
  'a=1&b=2&__proto__=3&a=4',
  '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}',
  `{"a":"${'ab '.repeat(200)}","event_type":"${'a.'.repeat(120)}"}`,
];

const asBytes = (text: string): string => Buffer.from(text, 'utf8').toString('latin1');

const parts = fc.oneof(
  damaged(SEEDS, WORDS, 5).map((text) => [{ text: asBytes(text), times: 1 }]),
  jsonOf(WORDS, 6).map((value) => [{ text: asBytes(JSON.stringify(value)), times: 1 }]),
  fc.array(
    fc.record({
      text: fc.oneof(fc.constantFrom(...WORDS, ...SEEDS).map(asBytes), fc.string({ maxLength: 3 }).map(asBytes)),
      times: fc.oneof({ weight: 5, arbitrary: fc.nat({ max: 3 }) }, { weight: 1, arbitrary: fc.nat({ max: 400_000 }) }),
    }),
    { maxLength: 5 },
  ),
);

const headerText = (text: string): string => asBytes(text).replace(/[\0-\x08\x0a-\x1f\x7f]/g, '');
const event = fc.oneof(
  fc.constantFrom(...WORDS, ...SEEDS).map(headerText),
  fc
    .tuple(fc.constantFrom('a', 'ab', 'a.', 'x', '*', 'push'), fc.nat({ max: 300 }))
    .map(([text, times]) => text.repeat(times)),
);

function bodyOf({ parts: pieces }: BodyCase): Buffer {
  let room = 1_048_576;
  const bytes = pieces.map(({ text, times }) => {
    const fits = text.length === 0 ? 0 : Math.min(times, Math.floor(room / text.length));
    room -= fits * text.length;
    return latin1(text.repeat(fits));
  });
  return Buffer.concat(bytes);
}

function requestOf(one: BodyCase): Buffer {
  const body = bodyOf(one);
  const lines = [`POST /webhooks/${one.route} HTTP/1.1`, 'Host: 127.0.0.1', `Content-Length: ${body.length}`];
  if (one.type !== null) lines.push(`Content-Type: ${one.type}`);
  if (one.event !== null) lines.push(`X-Forgea-Event: ${one.event}`);
  return Buffer.concat([latin1(`${lines.join('\r\n')}\r\n\r\n`), body]);
}

const checkDispatch = schemaValidator('dispatch');

export const bodies: FuzzWorker<BodyCase> = {
  name: 'bodies',
  cases: fc.record({
    route: fc.constantFrom('plain', 'dump', 'globs', 'stars', 'grouped', 'address', 'filters'),
    type: fc.constantFrom(
      null,
      'application/json',
      'application/x-www-form-urlencoded',
      'text/plain',
      'application/x+json',
      'text/xml',
      'x',
    ),
    event: fc.option(event),
    parts,
  }),
  async open() {
    const closing = new Closing();
    const { port, dispatcher } = await openGateway(closing, CONFIG, { patient: true });
    const connection = new KeptConnection(port);
    return {
      longestMs: LOOP_MS,
      async close() {
        connection.close();
        await closing.close();
      },
      async run(one) {
        const answer = await connection.send(requestOf(one));
        assert.ok(answer !== null, 'no answer');
        checkAnswer(answer);
        assert.ok([200, 202, 400, 415].includes(answer.status), `status ${answer.status}`);
        for (const { dispatch } of dispatcher.handed.splice(0)) {
          assert.deepEqual(checkDispatch(JSON.parse(JSON.stringify(dispatch))), [], 'a dispatch that cannot be stored');
        }
        assert.deepEqual(
          Reflect.ownKeys(Object.prototype).filter((key) => key === 'polluted'),
          [],
        );
      },
    };
  },
};
