/**
 * A double of model servers: Anthropic Messages, OpenAI Responses and chat completions, Gemini `generateContent`, streamed or not,
 * with TLS and without. Only requests with the key get an answer.
 * Words in the newest text of the user say what it answers: `STATUS:429`, `EMPTY`, `TRUNCATED`, `REFUSED`, `THINKONLY`, `HANG`, and
 * `CALL:note{"text":"x"}` calls the tool of this name, if the program has one. Otherwise the answer has every `SAY:word` of the
 * conversation: `ANSWER a,b`.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text as readText } from 'node:stream/consumers';

type Json = Readonly<Record<string, unknown>>;

/** A call of a tool, which may be in a group of tools. */
interface Call {
  readonly name: string;
  readonly group?: string;
  readonly fields: Json;
}

/** What one answer consists of, for every protocol. */
interface Reply {
  readonly text: string;
  readonly thought: string;
  readonly end: 'stop' | 'length' | 'refusal';
  readonly call?: Call;
}

const THOUGHT = 'A secret thought.';

/** All texts below a value, in their order. */
function textsIn(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value];
  if (Array.isArray(value)) return value.flatMap(textsIn);
  if (typeof value !== 'object' || value === null) return [];
  const { text, content, parts } = value as Json;
  return [text, content, parts].flatMap(textsIn);
}

/** The texts of the user, oldest first. */
function prompts({ messages, input, contents }: Json): readonly string[] {
  const all = [messages, input, contents].flatMap((list) => (Array.isArray(list) ? (list as Json[]) : []));
  return all.filter(({ role }) => role === 'user').map((message) => textsIn(message).join('\n'));
}

const list = (value: unknown): readonly Json[] => (Array.isArray(value) ? (value as Json[]) : []);

/** The names of the tools that a request declares, those of a group after its name. */
export function toolsOf({ tools }: Json): readonly Call[] {
  return list(tools).flatMap((tool): readonly Call[] => {
    const named = (each: Json, group?: string): Call => {
      const name = String((each.function as Json | undefined)?.name ?? each.name ?? each.type);
      return { name, fields: {}, ...(group === undefined ? {} : { group }) };
    };
    const { functionDeclarations = tool.tools } = tool;
    const group = tool.type === 'namespace' ? String(tool.name) : undefined;
    if (functionDeclarations === undefined) return [named(tool)];
    return list(functionDeclarations).map((each) => named(each, group));
  });
}

/** The call that the newest text asks for; undefined if the program has no such tool, or has called it. */
function callIn(body: Json, last: string): Call | undefined {
  const [, wanted, fields = '{}'] = /CALL:(\w+)(\{.*?\})/.exec(last) ?? [];
  const newest = JSON.stringify([body.messages, body.input, body.contents].map((each) => list(each).at(-1)));
  if (wanted === undefined || /tool_result|call_output|"role":"tool"|functionResponse/.test(newest)) return undefined;
  const tool = toolsOf(body).find(({ name }) => new RegExp(`(?:^|[^a-z])${wanted}$`, 'i').test(name));
  return tool && { ...tool, fields: JSON.parse(fields) as Json };
}

function replyTo(body: Json, texts: readonly string[]): Reply {
  const last = texts.at(-1) ?? '';
  const call = callIn(body, last);
  if (call !== undefined) return { text: '', thought: '', end: 'stop', call };
  const said = texts.flatMap((text) => [...text.matchAll(/SAY:(\w+)/g)].slice(-1).map(([, word]) => word));
  const reply = { text: `ANSWER ${said.join(',')}`, thought: '', end: 'stop' } as const;
  if (last.includes('EMPTY')) return { ...reply, text: '' };
  // A program may ask for the rest of a truncated answer.
  if (texts.some((text) => text.includes('TRUNCATED'))) return { ...reply, text: 'half of an', end: 'length' };
  if (last.includes('REFUSED')) return { ...reply, text: '', end: 'refusal' };
  if (last.includes('THINKONLY')) return { ...reply, text: '', thought: THOUGHT };
  return reply;
}

let count = 0;
const counter = (): number => ++count;

type Events = readonly (readonly [name: string, data: unknown])[];

function anthropic(
  { model }: Json,
  { text, thought, end, call }: Reply,
): { readonly whole: Json; readonly events: Events } {
  const usage = { input_tokens: 100, cache_creation_input_tokens: 20, cache_read_input_tokens: 30, output_tokens: 7 };
  const reason = call === undefined ? { stop: 'end_turn', length: 'max_tokens', refusal: 'refusal' }[end] : 'tool_use';
  const used = call && { type: 'tool_use', id: `toolu_${counter()}`, name: call.name, input: call.fields };
  const thinking = { type: 'thinking', thinking: thought, signature: 's' };
  const said = text === '' ? [] : [{ type: 'text', text }];
  const content = [...(thought === '' ? [] : [thinking]), ...(used === undefined ? said : [used])];
  const head = { id: `msg_${counter()}`, type: 'message', role: 'assistant', model, stop_sequence: null };
  const blocks = content.flatMap((block, index): Events => {
    const [delta, empty] =
      'input' in block
        ? [
            { type: 'input_json_delta', partial_json: JSON.stringify(block.input) },
            { ...block, input: {} },
          ]
        : 'text' in block
          ? [
              { type: 'text_delta', text },
              { ...block, text: '' },
            ]
          : [
              { type: 'thinking_delta', thinking: thought },
              { ...block, thinking: '' },
            ];
    return [
      ['content_block_start', { type: 'content_block_start', index, content_block: empty }],
      ['content_block_delta', { type: 'content_block_delta', index, delta }],
      ['content_block_stop', { type: 'content_block_stop', index }],
    ];
  });
  const start = { ...head, content: [], stop_reason: null, usage: { ...usage, output_tokens: 1 } };
  const last = {
    type: 'message_delta',
    delta: { stop_reason: reason, stop_sequence: null },
    usage: { output_tokens: 7 },
  };
  return {
    whole: { ...head, content, stop_reason: reason, usage },
    events: [
      ['message_start', { type: 'message_start', message: start }],
      ...blocks,
      ['message_delta', last],
      ['message_stop', { type: 'message_stop' }],
    ],
  };
}

function responses(
  { model }: Json,
  { text, thought, end, call }: Reply,
): { readonly whole: Json; readonly events: Events } {
  const usage = {
    input_tokens: 200,
    input_tokens_details: { cached_tokens: 50 },
    output_tokens: 9,
    output_tokens_details: { reasoning_tokens: 4 },
    total_tokens: 209,
  };
  const reasoning = { type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: thought }] };
  const refusal = { type: 'refusal', refusal: 'No.' };
  const part = end === 'refusal' ? refusal : { type: 'output_text', text, annotations: [] };
  const message = { type: 'message', id: `m_${counter()}`, role: 'assistant', status: 'completed', content: [part] };
  const said = text === '' && end !== 'refusal' ? [] : [message];
  const output = [...(thought === '' ? [] : [reasoning]), ...(call === undefined ? said : [itemOf(call)])];
  const state = end === 'length' ? 'incomplete' : 'completed';
  const details = end === 'length' ? { incomplete_details: { reason: 'max_output_tokens' } } : {};
  const whole = {
    id: `resp_${counter()}`,
    object: 'response',
    created_at: 1,
    status: state,
    model,
    output,
    usage,
    error: null,
    ...details,
  };
  const begun = { ...whole, status: 'in_progress', output: [], usage: null };
  return {
    whole,
    events: [
      ['response.created', { type: 'response.created', response: begun }],
      ...output.map((item, index): Events[number] => {
        return ['response.output_item.done', { type: 'response.output_item.done', output_index: index, item }];
      }),
      [`response.${state}`, { type: `response.${state}`, response: whole }],
    ],
  };
}

/** A call as Codex reads it: tools of servers are in groups. */
const itemOf = ({ name, group, fields }: Call): Json => ({
  type: 'function_call',
  id: `fc_${counter()}`,
  call_id: `call_${counter()}`,
  name,
  ...(group === undefined ? {} : { namespace: group }),
  arguments: JSON.stringify(fields),
  status: 'completed',
});

function chat({ model }: Json, { text, thought, end, call }: Reply): { readonly whole: Json; readonly events: Events } {
  const usage = {
    prompt_tokens: 300,
    completion_tokens: 11,
    total_tokens: 311,
    prompt_tokens_details: { cached_tokens: 60 },
  };
  const reason = call === undefined ? { stop: 'stop', length: 'length', refusal: 'content_filter' }[end] : 'tool_calls';
  const head = { id: `chatcmpl-${counter()}`, created: 1, model };
  const used = call && { name: call.name, arguments: JSON.stringify(call.fields) };
  const calls = used && [{ index: 0, id: `call_${counter()}`, type: 'function', function: used }];
  const asked = calls === undefined ? {} : { tool_calls: calls };
  const said = {
    role: 'assistant',
    content: text,
    ...asked,
    ...(thought === '' ? {} : { reasoning_content: thought }),
  };
  const chunk = (delta: Json, finish: string | null): Events[number] => {
    return ['', { ...head, object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason: finish }] }];
  };
  return {
    whole: {
      ...head,
      object: 'chat.completion',
      choices: [{ index: 0, message: said, finish_reason: reason }],
      usage,
    },
    events: [
      chunk(said, null),
      chunk({}, reason),
      ['', { ...head, object: 'chat.completion.chunk', choices: [], usage }],
      ['', '[DONE]'],
    ],
  };
}

function gemini(_: Json, { text, thought, end, call }: Reply): { readonly whole: Json; readonly events: Events } {
  const used = call === undefined ? [] : [{ functionCall: { name: call.name, args: call.fields } }];
  const thoughts = thought === '' ? [] : [{ text: thought, thought: true }];
  const parts = [...thoughts, ...used, ...(text === '' ? [] : [{ text }])];
  const whole = {
    candidates: [
      {
        content: { role: 'model', parts },
        finishReason: { stop: 'STOP', length: 'MAX_TOKENS', refusal: 'SAFETY' }[end],
        index: 0,
      },
    ],
    usageMetadata: { promptTokenCount: 400, candidatesTokenCount: 13, thoughtsTokenCount: 5, totalTokenCount: 418 },
    modelVersion: 'double',
    responseId: 'r1',
  };
  return { whole, events: [['', whole]] };
}

const PROTOCOLS = [
  [/\/v1\/messages$/, anthropic],
  [/\/responses$/, responses],
  [/\/chat\/completions$/, chat],
  [/:(?:streamG|g)enerateContent$/, gemini],
] as const;

/** Tokens of one answer, by the variable of the key. */
export const TOKENS = {
  ANTHROPIC_API_KEY: [150, 7],
  CODEX_API_KEY: [200, 9],
  GEMINI_API_KEY: [400, 18],
  OPENAI_API_KEY: [300, 11],
  MODEL_KEY: [300, 11],
} as const;

function send(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json', 'retry-after': '1' });
  response.end(JSON.stringify(body));
}

/** A request for an answer. */
export interface ModelRequest {
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: Json;
}

export interface ModelDouble {
  readonly url: string;
  /** The same with TLS. */
  readonly tlsUrl: string;
  /** The certificate of its authority. */
  readonly certificate: string;
  /** All requests for an answer since `reset`. */
  readonly requests: readonly ModelRequest[];
  reset(): void;
  close(): void;
}

/** Listens on two free ports of this machine. @param key requests without it get status 401 @param folder for a certificate */
export async function startModelDouble(key: string, folder: string): Promise<ModelDouble> {
  const requests: ModelRequest[] = [];
  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const path = request.url ?? '';
    const [plain = ''] = path.split('?');
    const content = await readText(request);
    const body = (content === '' ? {} : JSON.parse(content)) as Json;
    if (plain.endsWith('/models'))
      return send(response, 200, { object: 'list', data: [{ id: 'double', object: 'model' }] });
    if (/count_?tokens$/i.test(plain)) return send(response, 200, { input_tokens: 42, totalTokens: 42 });
    const protocol = PROTOCOLS.find(([pattern]) => pattern.test(plain))?.[1];
    if (protocol === undefined || request.method !== 'POST')
      return send(response, 404, { error: { message: `no ${plain}` } });
    const { headers } = request;
    requests.push({ path, headers, body });
    const keys = [headers.authorization, headers['x-api-key'], headers['x-goog-api-key']];
    if (!keys.some((value) => value === key || value === `Bearer ${key}`)) return fail(response, 401);
    const texts = prompts(body);
    const last = texts.at(-1) ?? '';
    if (last.includes('HANG')) return;
    const [, status] = /STATUS:(\d+)/.exec(last) ?? [];
    if (status !== undefined) return fail(response, Number(status));
    const { whole, events } = protocol(body, replyTo(body, texts));
    if (body.stream !== true && !path.includes('stream')) return send(response, 200, whole);
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const [name, data] of events)
      response.write(
        `${name === '' ? '' : `event: ${name}\n`}data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`,
      );
    response.end();
  };
  const [keyFile, certificate] = [join(folder, 'key.pem'), join(folder, 'certificate.pem')];
  const names = ['-subj', '/CN=models', '-addext', 'subjectAltName=IP:127.0.0.1'];
  spawnSync('openssl', [
    'req',
    '-x509',
    '-newkey',
    'rsa:2048',
    '-nodes',
    '-keyout',
    keyFile,
    '-out',
    certificate,
    ...names,
  ]);
  const listener = (request: IncomingMessage, response: ServerResponse): void => void handle(request, response);
  const servers: readonly Server[] = [
    createServer(listener),
    createTlsServer({ key: readFileSync(keyFile), cert: readFileSync(certificate) }, listener),
  ];
  for (const server of servers)
    await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', () => resolve()));
  const [port, tlsPort] = servers.map((server) => (server.address() as AddressInfo).port);
  return {
    url: `http://127.0.0.1:${port}`,
    tlsUrl: `https://127.0.0.1:${tlsPort}`,
    certificate,
    requests,
    reset() {
      requests.length = 0;
    },
    close() {
      for (const server of servers) {
        server.close();
        server.closeAllConnections();
      }
    },
  };
}

function fail(response: ServerResponse, status: number): void {
  send(response, status, { type: 'error', error: { type: 'api_error', message: 'asked to fail', code: status } });
}
