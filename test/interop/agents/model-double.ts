/**
 * A double of model servers: Anthropic Messages, OpenAI Responses and chat completions, Gemini `generateContent`, streamed or not.
 * Words in the newest text of the user say what it answers: `STATUS:429`, `EMPTY`, `TRUNCATED`, `REFUSED`, `THINKONLY`, `HANG`.
 * Otherwise the answer has every `SAY:word` of the conversation: `ANSWER a,b`.
 */
import type { ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import { text as readText } from 'node:stream/consumers';

type Json = Readonly<Record<string, unknown>>;

/** What one answer consists of, for every protocol. */
interface Reply {
  readonly text: string;
  readonly thought: string;
  readonly end: 'stop' | 'length' | 'refusal';
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

function replyTo(texts: readonly string[]): Reply {
  const last = texts.at(-1) ?? '';
  const said = texts.flatMap((text) => [...text.matchAll(/SAY:(\w+)/g)].slice(-1).map(([, word]) => word));
  const reply = { text: `ANSWER ${said.join(',')}`, thought: '', end: 'stop' } as const;
  if (last.includes('EMPTY')) return { ...reply, text: '' };
  // A program may ask for the rest of a truncated answer.
  if (texts.some((text) => text.includes('TRUNCATED'))) return { ...reply, text: 'half of an', end: 'length' };
  if (last.includes('REFUSED')) return { ...reply, text: '', end: 'refusal' };
  if (last.includes('THINKONLY')) return { ...reply, text: '', thought: THOUGHT };
  return reply;
}

type Events = readonly (readonly [name: string, data: unknown])[];

function anthropic({ model }: Json, { text, thought, end }: Reply): { readonly whole: Json; readonly events: Events } {
  const usage = { input_tokens: 100, cache_creation_input_tokens: 20, cache_read_input_tokens: 30, output_tokens: 7 };
  const reason = { stop: 'end_turn', length: 'max_tokens', refusal: 'refusal' }[end];
  const thinking = { type: 'thinking', thinking: thought, signature: 's' };
  const content = [...(thought === '' ? [] : [thinking]), ...(text === '' ? [] : [{ type: 'text', text }])];
  const head = { id: 'msg_1', type: 'message', role: 'assistant', model, stop_sequence: null };
  const blocks = content.flatMap((block, index): Events => {
    const delta = 'text' in block ? { type: 'text_delta', text } : { type: 'thinking_delta', thinking: thought };
    const empty = 'text' in block ? { ...block, text: '' } : { ...block, thinking: '' };
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

function responses({ model }: Json, { text, thought, end }: Reply): { readonly whole: Json; readonly events: Events } {
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
  const message = { type: 'message', id: 'm_1', role: 'assistant', status: 'completed', content: [part] };
  const output = [...(thought === '' ? [] : [reasoning]), ...(text === '' && end !== 'refusal' ? [] : [message])];
  const state = end === 'length' ? 'incomplete' : 'completed';
  const details = end === 'length' ? { incomplete_details: { reason: 'max_output_tokens' } } : {};
  const whole = {
    id: 'resp_1',
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

function chat({ model }: Json, { text, thought, end }: Reply): { readonly whole: Json; readonly events: Events } {
  const usage = {
    prompt_tokens: 300,
    completion_tokens: 11,
    total_tokens: 311,
    prompt_tokens_details: { cached_tokens: 60 },
  };
  const reason = { stop: 'stop', length: 'length', refusal: 'content_filter' }[end];
  const head = { id: 'chatcmpl-1', created: 1, model };
  const said = { role: 'assistant', content: text, ...(thought === '' ? {} : { reasoning_content: thought }) };
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

function gemini(_: Json, { text, thought, end }: Reply): { readonly whole: Json; readonly events: Events } {
  const parts = [...(thought === '' ? [] : [{ text: thought, thought: true }]), ...(text === '' ? [] : [{ text }])];
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

/** Listens on a free port of this machine. */
export async function startModelDouble(): Promise<{ readonly url: string; close(): void }> {
  const server = createServer(async (request, response) => {
    const path = (request.url ?? '').split('?')[0] ?? '';
    const content = await readText(request);
    const body = (content === '' ? {} : JSON.parse(content)) as Json;
    if (path.endsWith('/models'))
      return send(response, 200, { object: 'list', data: [{ id: 'double', object: 'model' }] });
    if (/count_?tokens$/i.test(path)) return send(response, 200, { input_tokens: 42, totalTokens: 42 });
    const protocol = PROTOCOLS.find(([pattern]) => pattern.test(path))?.[1];
    if (protocol === undefined) return send(response, 404, { error: { message: `no ${path}` } });
    const texts = prompts(body);
    const last = texts.at(-1) ?? '';
    if (last.includes('HANG')) return;
    const [, status] = /STATUS:(\d+)/.exec(last) ?? [];
    if (status !== undefined) {
      const error = { type: 'api_error', message: 'asked to fail', code: Number(status) };
      return send(response, Number(status), { type: 'error', error });
    }
    const { whole, events } = protocol(body, replyTo(texts));
    if (body.stream !== true && !path.includes('stream')) return send(response, 200, whole);
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const [name, data] of events)
      response.write(
        `${name === '' ? '' : `event: ${name}\n`}data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`,
      );
    response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}`,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}
