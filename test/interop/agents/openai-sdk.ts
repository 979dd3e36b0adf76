/**
 * `npm run test:interop -- openai`: `agent.openai` beside the official library, for the same responses of a server. Writes the table
 * of docs/agents.md. Where they differ on purpose, the table says why.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { HttpPool } from '../../../runtime/deliver/http-pool.ts';
import { AgentError } from '../../../runtime/dispatch/agent-runner.ts';
import { createOpenAiAgent } from '../../../runtime/dispatch/agents/openai.ts';
import { systemClock } from '../../../runtime/platform/clock.ts';
import { ROOT } from '../../helpers/root.ts';

const KEY = 'sk-test-0123456789abcdef';
/** The library waits for real; a short wait is enough to see it. */
const WAIT_MS = 1200;

interface Case {
  readonly what: string;
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: unknown;
  /** Why they differ; absent: they do the same. */
  readonly why?: string;
}

const said = (message: object, finish_reason = 'stop'): object => ({
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [{ index: 0, finish_reason, message: { role: 'assistant', content: 'Hello.', refusal: null, ...message } }],
});

const failed = (status: number): Case => ({ what: `status ${status}`, status, body: { error: { message: 'x' } } });

const CASES: readonly Case[] = [
  { what: 'an answer', body: said({}) },
  ...[400, 401, 403, 404, 408, 409, 422, 429, 500, 503].map(failed),
  { ...failed(429), what: '429 with `Retry-After: 1.2`', headers: { 'retry-after': '1.2' } },
  { ...failed(503), what: '503 with `retry-after-ms: 1200`', headers: { 'retry-after-ms': '1200' } },
  { ...failed(429), what: '429 with `x-should-retry: false`', headers: { 'x-should-retry': 'false' } },
  { ...failed(400), what: '400 with `x-should-retry: true`', headers: { 'x-should-retry': 'true' } },
  {
    what: '`finish_reason: length`',
    body: said({}, 'length'),
    why: 'half an answer is worse than none; `deliver_truncated` takes it',
  },
  {
    what: '`finish_reason: content_filter`',
    body: said({}, 'content_filter'),
    why: 'as for `length`',
  },
  {
    what: '`refusal`',
    body: said({ content: null, refusal: 'No.' }),
    why: 'a refusal is not an answer',
  },
  {
    what: 'status 200 with an `error`',
    body: { error: { message: 'x', code: 502 } },
    why: 'gateways to other servers report errors so',
  },
  {
    what: '`<think>` before the answer',
    body: said({ content: '<think>A secret thought.</think>Hello.' }),
    why: 'reasoning is not an answer',
  },
];

interface Outcome {
  readonly text: string;
  readonly isAgain: boolean;
  readonly waited: boolean;
}

const print = ({ text, isAgain, waited }: Outcome): string =>
  `${text}${isAgain ? `, tried again${waited ? ' after that time' : ''}` : ''}`;

interface Completions {
  readonly chat: { readonly completions: { create(body: object): Promise<unknown> } };
}

type Library = new (options: object) => Completions;

/** With one more attempt, which gets an answer. */
async function askLibrary(url: string, arrivals: readonly number[], library: Library): Promise<Outcome> {
  const client = new library({ baseURL: url, apiKey: KEY, maxRetries: 1 });
  const body = { model: 'm', messages: [{ role: 'user', content: 'Hi.' }] };
  const text = await client.chat.completions.create(body).then(
    (completion) => {
      const { choices } = completion as {
        readonly choices?: readonly { readonly message: { readonly content: unknown } }[];
      };
      const [choice] = choices ?? [];
      return choice === undefined
        ? 'the body'
        : choice.message.content === null
          ? 'no text'
          : `“${String(choice.message.content)}”`;
    },
    () => 'fails',
  );
  const [first = 0, second] = arrivals;
  if (second === undefined) return { text, isAgain: false, waited: false };
  return { text: 'fails', isAgain: true, waited: second - first > WAIT_MS - 50 };
}

async function askAgent(url: string): Promise<Outcome> {
  const http = new HttpPool();
  const reference = { kind: 'env', value: 'KEY', scope: 'default' } as const;
  const limits = { max_attempts: 1, max_concurrent: null, toolsets: null, allow_http: false, timeout_seconds: 30 };
  const agent = createOpenAiAgent(
    { kind: 'openai', base_url: url, model: 'm', system: null, api_key: reference, ...limits },
    { http, clock: systemClock, redact: (text) => text, secrets: { resolve: () => KEY } },
  );
  const about = {
    toolsets: [],
    skills: [],
    session: 's',
    profile: 'default',
    route: 'r',
    event: 'e',
    delivery_id: '1',
  };
  const outcome = await agent.run({ prompt: 'Hi.', signal: new AbortController().signal, ...about }).then(
    (text) => ({ text: `“${text}”`, isAgain: false, waited: false }),
    (error: unknown) => {
      if (!(error instanceof AgentError)) throw error;
      const { permanent = false, retryAfterMs = null } = error.failure;
      // A failure of the answer itself may be tried again, if the configuration says so; the library does not see it.
      return { text: 'fails', isAgain: !permanent, waited: retryAfterMs !== null && retryAfterMs > WAIT_MS - 50 };
    },
  );
  await http.destroy();
  return outcome;
}

const PAGE = join(ROOT, 'docs/agents.md');
const [BEGIN, END] = ['<!-- openai library -->', '<!-- end of openai library -->'];

/** @param folder the packages @returns false if they differ where they should not */
export async function compareWithLibrary(folder: string): Promise<boolean> {
  const require = createRequire(join(folder, 'x.js'));
  const { OpenAI } = require('openai') as { readonly OpenAI: Library };
  const { version } = JSON.parse(readFileSync(join(folder, 'openai/package.json'), 'utf8')) as {
    readonly version: string;
  };
  let now: Case | null = null;
  const arrivals: number[] = [];
  const server = createServer((request, response: ServerResponse) => {
    request.resume();
    arrivals.push(performance.now());
    const { status = 200, headers = {}, body } = arrivals.length > 1 || now === null ? { body: said({}) } : now;
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', () => resolve()));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  /** What was tried, by the results. */
  const rows = new Map<string, readonly string[]>();
  let isSame = true;
  for (const each of CASES) {
    now = each;
    arrivals.length = 0;
    const library = print(await askLibrary(url, arrivals, OpenAI));
    arrivals.length = 0;
    const agent = print(await askAgent(url));
    const differs = library !== agent;
    if (differs !== (each.why !== undefined)) isSame = false;
    console.log(
      `${differs === (each.why !== undefined) ? 'ok    ' : 'failed'} openai ${each.what}: ${library} | ${agent}`,
    );
    const result = `${library} | ${differs ? `${agent}: ${each.why ?? '?'}` : 'the same'}`;
    rows.set(result, [...(rows.get(result) ?? []), each.what]);
  }
  server.close();
  server.closeAllConnections();
  const page = readFileSync(PAGE, 'utf8');
  const [before = '', rest = ''] = page.split(`${BEGIN}\n`);
  const [, after = ''] = rest.split(END);
  const table = [`| response | \`openai\` ${version} for Node.js | \`agent.openai\` |`, '| --- | --- | --- |'];
  for (const [result, what] of rows) table.push(`| ${what.join(', ').replaceAll(', status', ',')} | ${result} |`);
  writeFileSync(PAGE, `${before}${BEGIN}\n\n${table.join('\n')}\n\n${END}${after}`);
  return isSame;
}
