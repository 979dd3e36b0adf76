/**
 * Fuzzes responses of delivery targets and of an agent's server: damaged ones of every shipped target, and bytes that are not
 * HTTP. Each attempt ends with an outcome without credentials, and no response keeps the gateway busy.
 */
import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import fc from 'fast-check';
import { HttpPool } from '../../../../runtime/deliver/http-pool.ts';
import type { AgentRunner } from '../../../../runtime/dispatch/agent-runner.ts';
import { AgentError } from '../../../../runtime/dispatch/agent-runner.ts';
import { createOpenAiAgent } from '../../../../runtime/dispatch/agents/openai.ts';
import { deliveryTo } from '../../../helpers/deliveries.ts';
import type { FakeAnswer } from '../../../helpers/fake-http.ts';
import { startFakeHttp } from '../../../helpers/fake-http.ts';
import type { TargetCase } from '../../../helpers/target-cases.ts';
import { TARGET_CASES } from '../../../helpers/target-cases.ts';
import type { FakeTarget } from '../../../helpers/target-fake.ts';
import { startTarget } from '../../../helpers/target-fake.ts';
import { checkOutcome } from '../check-outcome.ts';
import { damaged, latin1 } from '../damage.ts';
import { ODD_TEXTS } from '../words.ts';
import type { FuzzWorker } from '../worker.ts';
import { Closing, LOOP_MS } from '../worker.ts';

interface TargetAnswer {
  /** Index of a case of `TARGET_CASES`; -1: an OpenAI-compatible server. */
  readonly target: number;
  /** The whole response, one character a byte. */
  readonly text: string;
}

function rawAnswer({ status = 200, headers = {}, body = '' }: FakeAnswer): string {
  const text = Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)).toString('latin1');
  const lines = Object.entries({ 'content-type': 'application/json', 'content-length': text.length, ...headers });
  return `HTTP/1.1 ${status} X\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n${text}`;
}

const COMPLETION = { choices: [{ message: { content: 'hello' } }], usage: { prompt_tokens: 1 } };
const AGENT_ANSWERS = [
  { body: COMPLETION },
  { body: { choices: [{ message: { content: [{ text: 'a' }, {}] } }] } },
  { status: 401 },
];

const answersOf = (one: TargetCase | undefined): readonly FakeAnswer[] =>
  one === undefined
    ? AGENT_ANSWERS
    : [...one.ok, ...one.auth, ...one.permanent, ...(one.ambiguous ?? []), ...one.rate.map(([answer]) => answer)];

const WORDS = [
  ...[
    '\r\n',
    '\r\n\r\n',
    '{',
    '}',
    '[',
    ']',
    '"',
    ':',
    ',',
    'null',
    'true',
    'false',
    '200',
    '302',
    '429',
    '500',
    '204',
  ],
  ...['Retry-After: 5\r\n', 'Retry-After: -1\r\n', 'Retry-After: 99999999999999999999\r\n', 'Retry-After: 1e400\r\n'],
  ...['Retry-After: Wed, 21 Oct 9999 07:28:00 GMT\r\n', 'Retry-After: x\r\n', 'Location: http://127.0.0.1:1/\r\n'],
  ...[
    'Content-Length: 99999\r\n',
    'Content-Length: 0\r\n',
    'Transfer-Encoding: chunked\r\n',
    'Content-Encoding: gzip\r\n',
  ],
  ...[
    'Content-Type: text/html\r\n',
    'Set-Cookie: a=b\r\n',
    'Connection: Upgrade\r\nUpgrade: x\r\n',
    'error',
    'ok',
    'id',
  ],
  ...ODD_TEXTS,
].map((word) => Buffer.from(word, 'utf8').toString('latin1'));

const caseOf = (target: number): fc.Arbitrary<TargetAnswer> =>
  fc.record({
    target: fc.constant(target),
    text: damaged(['', ...answersOf(TARGET_CASES[target]).map(rawAnswer)], WORDS, 5),
  });

const AGENT_REQUEST = {
  ...{ prompt: 'x', toolsets: [], skills: [], session: 's', profile: 'default', route: 'r', event: 'e' },
  delivery_id: '1',
};

class TargetBench {
  readonly longestMs = LOOP_MS;
  private readonly closing = new Closing();
  private readonly targets = new Map<number, FakeTarget>();
  private agent: AgentRunner | null = null;
  private text = '';
  /** Sends the bytes of the case instead of a response, then closes the connection. */
  private readonly answer = (response: ServerResponse): void => {
    response.socket?.end(latin1(this.text));
  };

  close(): Promise<void> {
    return this.closing.close();
  }

  async run({ target, text }: TargetAnswer): Promise<void> {
    this.text = text;
    const one = TARGET_CASES[target];
    if (one === undefined) return this.askAgent();
    const { deliverer } = await this.target(one, target);
    const before = deliverer.log.length;
    checkOutcome(await deliverer.deliver(deliveryTo(one.target, { extra: one.extra ?? {} })));
    assert.doesNotMatch(JSON.stringify(deliverer.log.slice(before)), /canary/i, 'a credential in the log');
  }

  private async target(one: TargetCase, index: number): Promise<FakeTarget> {
    const known = this.targets.get(index) ?? (await startTarget(this.closing, one, () => this.answer));
    this.targets.set(index, known);
    return known;
  }

  private async askAgent(): Promise<void> {
    this.agent ??= await this.openAgent();
    try {
      const said = await this.agent.run({ ...AGENT_REQUEST, signal: new AbortController().signal });
      assert.equal(typeof said, 'string');
    } catch (error) {
      assert.ok(error instanceof AgentError, String(error));
      assert.doesNotMatch(error.message, /canary/i, 'a credential in an error');
    }
  }

  private async openAgent(): Promise<AgentRunner> {
    const { url } = await startFakeHttp(this.closing, () => this.answer);
    const http = new HttpPool();
    this.closing.after(() => http.destroy());
    const api_key = { kind: 'literal', value: 'canary-key', scope: 'default' } as const;
    const plan = {
      kind: 'openai',
      allow_http: true,
      base_url: url,
      model: 'm',
      system: null,
      max_attempts: 1,
      max_concurrent: null,
      toolsets: null,
      timeout_seconds: 5,
    } as const;
    return createOpenAiAgent({ ...plan, api_key }, { ...OPENAI, http, secrets: { resolve: (ref) => ref.value } });
  }
}

const OPENAI = { clock: { now: () => 0 }, redact: (text: string) => text };

const TARGETS = TARGET_CASES.map((_, index) => index);

export const targets: FuzzWorker<TargetAnswer> = {
  name: 'targets',
  cases: fc.oneof(...[...TARGETS, -1].map(caseOf)),
  open: async () => new TargetBench(),
};
