/**
 * The agent as an OpenAI-compatible server: one chat completion per run. Of the server's errors, only codes are passed on,
 * and of its completion never the reasoning.
 */

import type { IncomingHttpHeaders } from 'node:http';
import { Collected } from '../../../base/collected.ts';
import { codeOf } from '../../../base/errors.ts';
import { tryParseJson } from '../../../base/files.ts';
import { parseBaseUrl } from '../../../base/net.ts';
import { isBlank } from '../../../base/text.ts';
import type { OpenAiAgentPlan, SecretRef } from '../../../schemas/generated/types.ts';
import { headerWait, toCode } from '../../deliver/http/classify-response.ts';
import type { HttpPool } from '../../deliver/http-pool.ts';
import type { Redact } from '../../deliver/redact.ts';
import type { Clock } from '../../platform/clock.ts';
import { traceHeaders } from '../../platform/log.ts';
import type { SecretResolver } from '../../platform/secrets.ts';
import { explainSecrets, SecretError } from '../../platform/secrets.ts';
import { toUsage } from '../../store/usage.ts';
import type { AgentRequest, AgentRunner, OutputHandover } from '../agent-runner.ts';
import { AgentError } from '../agent-runner.ts';

interface OpenAiAgentContext {
  readonly http: HttpPool;
  readonly secrets: SecretResolver;
  readonly clock: Pick<Clock, 'now'>;
  /** Replaces secrets in error codes. */
  readonly redact: Redact;
}

/** Largest response that is read, in bytes. */
const MAX_RESPONSE_BYTES = 4 * 1024 * 1024;

const REFUSALS: Readonly<Record<number, string>> = {
  200: 'the server reported an error',
  400: 'the server rejected the request (400)',
  401: 'the server rejected the API key (401)',
  403: 'access denied (403)',
  404: 'no such address or model (404)',
  413: 'the prompt is too long (413)',
  429: 'too many requests, or the quota is exhausted (429)',
};

/** Failures that another attempt may repair, besides those of the server (5xx). */
const TEMPORARY = [408, 409, 429];

/** @throws SecretError when a reference cannot be resolved */
export function createOpenAiAgent(plan: OpenAiAgentPlan, context: OpenAiAgentContext): AgentRunner {
  const base = parseBaseUrl(plan.base_url, { allowHttp: plan.allow_http, secret: false });
  // The compiler rejects a bad URL. With a table from elsewhere, no secret is read and nothing is sent.
  const own = typeof base === 'string' ? {} : readHeaders(plan, context.secrets);
  return {
    async run(request, report) {
      if (typeof base === 'string') throw new AgentError(base, { permanent: true });
      const url = `${base.origin}${base.path}/chat/completions${base.query === '' ? '' : `?${base.query}`}`;
      try {
        const { request: send } = await import('undici');
        const { statusCode, headers, body } = await send(url, {
          method: 'POST',
          headers: { ...own, 'content-type': 'application/json', accept: 'application/json', ...traceHeaders(request) },
          body: JSON.stringify(completion(plan, request)),
          dispatcher: await context.http.open(),
          signal: request.signal,
          headersTimeout: plan.timeout_seconds * 1000,
          bodyTimeout: plan.timeout_seconds * 1000,
        });
        // The status says more than what is wrong with the body of an error.
        const text = await readBody(body).catch((error: unknown) => (statusCode === 200 ? Promise.reject(error) : ''));
        const answer = tryParseJson(text);
        const choices = field(answer, 'choices');
        const choice: unknown = Array.isArray(choices) ? choices[0] : undefined;
        const spent = field(answer, 'usage');
        const usage = toUsage(field(spent, 'prompt_tokens'), field(spent, 'completion_tokens'), field(spent, 'cost'));
        if (usage !== null) report?.used(usage);
        const error = errorIn(answer) || errorIn(choice);
        if (error || statusCode !== 200) throw refusal(statusCode, error, headers, context);
        if (answer === undefined) throw new AgentError('the response is not JSON');
        return readChoice(choice, plan, request.outputs, context);
      } catch (error) {
        if (request.signal.aborted) throw new AgentError('the request was stopped');
        // The code of the system or undici, because the message may contain the URL.
        const reason = `no answer from the server: ${codeOf(error) ?? 'connection failed'}`;
        throw error instanceof AgentError ? error : new AgentError(reason);
      }
    },
  };
}

/** @throws SecretError when a reference cannot be resolved; the table is then not served */
function readHeaders({ api_key, headers = {} }: OpenAiAgentPlan, secrets: SecretResolver): Record<string, string> {
  const read = (where: string, ref: SecretRef, setting?: string): string => {
    const text = explainSecrets(
      () => secrets.resolve(ref, setting),
      (reason) => new SecretError(`${where}: ${reason}`),
    );
    if (!HEADER_TEXT.test(text)) throw new SecretError(`${where}: it has a character that no header can contain`);
    return text;
  };
  const own = Object.entries(headers).map(([name, ref]) => [name.toLowerCase(), read(`headers.${name}`, ref, name)]);
  return {
    ...Object.fromEntries(own),
    ...(api_key === null ? {} : { authorization: `Bearer ${read('api_key', api_key)}` }),
  };
}

const HEADER_TEXT = /^[\t\x20-\x7e\x80-\xff]*$/;

function completion({ model, system, body }: OpenAiAgentPlan, { prompt, said = [], outputs }: AgentRequest): unknown {
  const user = (content: string) => ({ role: 'user', content });
  const earlier = said.flatMap((turn) => [user(turn.prompt), { role: 'assistant', content: turn.answer }]);
  const tools = outputs?.tools.map((tool) => ({ type: 'function', function: tool }));
  return {
    model,
    ...body,
    ...(tools === undefined ? {} : { tools }),
    messages: [...(system === null ? [] : [{ role: 'system', content: system }]), ...earlier, user(prompt)],
  };
}

async function readBody(body: AsyncIterable<Buffer>): Promise<string> {
  const read = new Collected();
  for await (const chunk of body) {
    read.add(chunk);
    // Leaving the loop destroys the stream.
    if (read.size > MAX_RESPONSE_BYTES) throw new AgentError(`the response is longer than ${MAX_RESPONSE_BYTES} bytes`);
  }
  return read.whole().toString('utf8');
}

/** The error of a response or of a choice; falsy if there is none. */
const errorIn = (value: unknown): unknown =>
  field(value, 'error') || ((field(value, 'object') === 'error' || field(value, 'finish_reason') === 'error') && value);

/** @param status with 200, the status is that in the error's code, as gateways to other servers report it */
function refusal(
  status: number,
  error: unknown,
  headers: IncomingHttpHeaders,
  context: OpenAiAgentContext,
): AgentError {
  const wait = (name: string, unitMs: number) => headerWait(String(headers[name]), unitMs, context.clock.now());
  const code = toCode(field(error, 'code')) ?? toCode(field(error, 'type'));
  const actual = status === 200 && /^[45]\d\d$/.test(code ?? '') ? Number(code) : status;
  const advice = headers['x-should-retry'];
  const isFinal = actual >= 400 && actual < 500 && !TEMPORARY.includes(actual);
  const shown = code === null || code === String(actual) ? '' : `: ${context.redact(code)}`;
  return new AgentError(`${REFUSALS[actual] ?? `the server returned status ${actual}`}${shown}`, {
    // A server that says so knows better: 429 also means that a quota is used up.
    permanent: advice === 'false' || (isFinal && advice !== 'true'),
    retryAfterMs: wait('retry-after-ms', 1) ?? wait('retry-after', 1000),
  });
}

/** Reads the answer: `message.content`, a text or a list of parts, whose texts are joined. */
function readChoice(
  choice: unknown,
  { deliver_truncated }: OpenAiAgentPlan,
  outputs: OutputHandover | undefined,
  { redact }: OpenAiAgentContext,
): string {
  const message = field(choice, 'message');
  const content = field(message, 'content');
  const parts: readonly unknown[] = Array.isArray(content) ? content : [{ text: content }];
  const finish = field(choice, 'finish_reason');
  if (finish === 'refusal' || field(message, 'refusal') || parts.some((part) => field(part, 'type') === 'refusal'))
    throw new AgentError('the model refused to answer');
  const cut = cutBy(finish, redact);
  if (cut !== null && deliver_truncated !== true) throw new AgentError(cut);
  const calls = outputs === undefined ? [] : readCalls(message);
  outputs?.take(calls);
  const answering = parts.filter((part) => ANSWER_PARTS.includes(field(part, 'type')));
  const texts = answering.map((part) => field(part, 'text')).filter((text) => typeof text === 'string');
  const text = withoutReasoning(texts.join(''));
  // The tool calls are the answer.
  if (!isBlank(text) || calls.length > 0) return text;
  if (cut !== null) throw new AgentError(cut);
  if (texts.join('') !== text || REASONING.some((name) => field(message, name)))
    throw new AgentError('the response contains reasoning and no answer');
  if (texts.length === 0) throw new AgentError('the response contains no text');
  return text;
}

/** Values of `finish_reason`, by several servers, with which an answer is complete; so it is without one. */
const COMPLETE =
  /^(?:|null|undefined|stop|stop_sequence|end|end_turn|eos|eos_token|complete|completed|(?:tool|function)_calls?|tool_use)$/i;
const CUTS = [
  {
    fits: /^(?:length|model_length|max_(?:output_)?tokens|model_context_window_exceeded)$/i,
    reason: 'the answer reached the maximum of tokens (length)',
  },
  {
    fits: /^(?:content_filter|safety|sensitive|recitation|blocklist|prohibited_content|spii)/i,
    reason: 'a filter stopped the answer (content_filter)',
  },
];

/** Why an answer is not complete; null: it is. */
function cutBy(finish: unknown, redact: Redact): string | null {
  if (COMPLETE.test(String(finish))) return null;
  const other = `the answer is not complete: finish_reason ${redact(toCode(finish) ?? 'is unknown')}`;
  return CUTS.find(({ fits }) => fits.test(String(finish)))?.reason ?? other;
}

/** Types of the parts that are the answer; others contain reasoning. */
const ANSWER_PARTS: readonly unknown[] = [undefined, 'text', 'output_text'];
/** Fields of a message with reasoning, by server. */
const REASONING = ['reasoning_content', 'reasoning', 'reasoning_details', 'thinking', 'thinking_blocks'];
const BLOCK = /^\s*(?:<(?:think|thinking|thought)>|\[THINK\])/i;
const TAG = /<\/?(?:think|thinking|thought)>|\[\/?THINK\]/gi;
/** The end of a block whose start is in the template of the model. A tag in quotes is in a text about tags. */
const REST_OF_BLOCK = /^(?:(?!<think)[\s\S])*?(?<![`'"])<\/think(?:ing)?>(?![`'"])\s*/i;
/** After another block, only a tag at the end of its line: it may belong to the answer. */
const SECOND_END = /^(?:(?!<think)[\s\S])*?<\/think(?:ing)?>[ \t]*(?:\r?\n|$)\s*/i;

/** The blocks of reasoning at the start are of servers that do not separate them. */
function withoutReasoning(text: string): string {
  let rest = text;
  for (let end = endOfBlock(rest); end > 0; end = endOfBlock(rest)) rest = rest.slice(end);
  return rest === text ? text.replace(REST_OF_BLOCK, '') : rest.trimStart().replace(SECOND_END, '');
}

/** The end of the block at the start, with the blocks in it; the last one may be incomplete. 0: there is none. */
function endOfBlock(text: string): number {
  if (!BLOCK.test(text)) return 0;
  let depth = 0;
  let last = text.length;
  for (const { 0: tag, index } of text.matchAll(TAG)) {
    const isEnd = tag[1] === '/';
    depth += isEnd ? -1 : 1;
    if (isEnd) last = index + tag.length;
    if (depth === 0) break;
  }
  return last;
}

/** The tool calls as outputs. Arguments that are not an object stay unchanged, to be dropped as invalid. */
function readCalls(message: unknown): readonly string[] {
  const calls = field(message, 'tool_calls');
  const legacy = field(message, 'function_call');
  return (Array.isArray(calls) ? calls : legacy ? [{ function: legacy }] : []).map((call: unknown) => {
    const called = field(call, 'function');
    const text = field(called, 'arguments');
    const values: unknown = typeof text === 'string' ? tryParseJson(text) : text;
    const isObject = typeof values === 'object' && values !== null && !Array.isArray(values);
    return isObject ? JSON.stringify({ ...values, output: field(called, 'name') }) : String(text);
  });
}

function field(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null) return undefined;
  return Object.hasOwn(value, name) ? (value as Readonly<Record<string, unknown>>)[name] : undefined;
}
