/** The agent as an OpenAI-compatible server: one chat completion per run. The server's error texts are never passed on. */

import { codeOf } from '../../../base/errors.ts';
import { tryParseJson } from '../../../base/files.ts';
import { parseBaseUrl } from '../../../base/net.ts';
import type { OpenAiAgentPlan } from '../../../schemas/generated/types.ts';
import type { HttpPool } from '../../deliver/http-pool.ts';
import { traceHeaders } from '../../platform/log.ts';
import type { SecretResolver } from '../../platform/secrets.ts';
import { explainSecrets, SecretError } from '../../platform/secrets.ts';
import { toUsage } from '../../store/usage.ts';
import type { AgentRequest, AgentRunner, OutputHandover, RunReport } from '../agent-runner.ts';
import { AgentError } from '../agent-runner.ts';

interface OpenAiAgentContext {
  readonly http: HttpPool;
  readonly secrets: SecretResolver;
}

/** Largest response that is read, in bytes. */
const MAX_RESPONSE_BYTES = 4 * 1024 * 1024;

const REFUSALS: Readonly<Record<number, string>> = {
  400: 'the server rejected the request (400)',
  401: 'the server rejected the API key (401)',
  403: 'access denied (403)',
  404: 'no such address or model (404)',
  413: 'the prompt is too long (413)',
  429: 'too many requests, or the quota is exhausted (429)',
};

/** @throws SecretError when the key cannot be resolved */
export function createOpenAiAgent(plan: OpenAiAgentPlan, context: OpenAiAgentContext): AgentRunner {
  const base = parseBaseUrl(plan.base_url, { allowHttp: plan.allow_http, secret: false });
  // The compiler rejects a bad URL. With a table from elsewhere, the key is not read and nothing is sent.
  const authorization = typeof base === 'string' ? {} : authorize(plan, context.secrets);
  return {
    async run(request, report) {
      if (typeof base === 'string') throw new AgentError(base);
      const url = `${base.origin}${base.path}/chat/completions${base.query === '' ? '' : `?${base.query}`}`;
      try {
        const { request: send } = await import('undici');
        const response = await send(url, {
          method: 'POST',
          headers: {
            'content-type': 'application/json',
            accept: 'application/json',
            ...authorization,
            ...traceHeaders(request),
          },
          body: JSON.stringify(completion(plan, request)),
          dispatcher: await context.http.open(),
          signal: request.signal,
          headersTimeout: plan.timeout_seconds * 1000,
          bodyTimeout: plan.timeout_seconds * 1000,
        });
        const body = await readBody(response.body);
        if (response.statusCode === 200) return readAnswer(body, request.outputs, report);
        throw new AgentError(REFUSALS[response.statusCode] ?? `the server returned status ${response.statusCode}`);
      } catch (error) {
        if (request.signal.aborted) throw new AgentError('the request was stopped');
        throw error instanceof AgentError ? error : new AgentError(explain(error));
      }
    },
  };
}

/** @throws SecretError when the key cannot be read; the table is then not served */
function authorize({ api_key }: OpenAiAgentPlan, secrets: SecretResolver): Record<string, string> {
  if (api_key === null) return {};
  const key = explainSecrets(
    () => secrets.resolve(api_key),
    (reason) => new SecretError(`api_key: ${reason}`),
  );
  return { authorization: `Bearer ${key}` };
}

function completion({ model, system }: OpenAiAgentPlan, { prompt, said = [], outputs }: AgentRequest): unknown {
  const user = (content: string) => ({ role: 'user', content });
  const earlier = said.flatMap((turn) => [user(turn.prompt), { role: 'assistant', content: turn.answer }]);
  const tools = outputs?.tools.map((tool) => ({ type: 'function', function: tool }));
  return {
    model,
    ...(tools === undefined ? {} : { tools }),
    messages: [...(system === null ? [] : [{ role: 'system', content: system }]), ...earlier, user(prompt)],
  };
}

async function readBody(body: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    // Leaving the loop destroys the stream.
    if (size > MAX_RESPONSE_BYTES) throw new AgentError(`the response is longer than ${MAX_RESPONSE_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** Reads `choices[0].message.content`: a text, or a list of parts, whose texts are joined. */
function readAnswer(body: string, outputs: OutputHandover | undefined, report: RunReport | undefined): string {
  const answer = tryParseJson(body);
  if (answer === undefined) throw new AgentError('the response is not JSON');
  const usageField = field(answer, 'usage');
  const usage = toUsage(field(usageField, 'prompt_tokens'), field(usageField, 'completion_tokens'), null);
  if (usage !== null) report?.used(usage);
  const choices = field(answer, 'choices');
  const message = field(Array.isArray(choices) ? choices[0] : undefined, 'message');
  const content = field(message, 'content');
  const calls = outputs === undefined ? [] : readCalls(message);
  outputs?.take(calls);
  if (typeof content === 'string') return content;
  if (Array.isArray(content)) {
    const texts = content.map((part: unknown) => field(part, 'text')).filter((text) => typeof text === 'string');
    if (texts.length > 0) return texts.join('');
  }
  // The tool calls are the answer.
  if (calls.length > 0) return '';
  throw new AgentError('the response contains no text');
}

/** The tool calls as outputs. Arguments that are not an object stay unchanged, to be dropped as invalid. */
function readCalls(message: unknown): readonly string[] {
  const calls = field(message, 'tool_calls');
  return (Array.isArray(calls) ? calls : []).map((call: unknown) => {
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

/** Uses the error code of the system or undici, because the message may contain the URL. */
function explain(error: unknown): string {
  return `no answer from the server: ${codeOf(error) ?? 'connection failed'}`;
}
