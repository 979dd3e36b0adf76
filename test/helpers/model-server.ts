/**
 * A double of the model servers that Claude Code, Codex and Gemini CLI call: records every request, and returns a short
 * answer.
 */
import type { ServerResponse } from 'node:http';
import type { TestContext } from 'node:test';
import type { Answer, FakeServer, SeenRequest } from './fake-http.ts';
import { startFakeHttp } from './fake-http.ts';

export const ANSWER = 'An answer of the double.';

export const startModelServer = (t: Pick<TestContext, 'after'>): Promise<FakeServer> => startFakeHttp(t, answer);

function answer(request: SeenRequest): Answer {
  const { path } = request;
  if (path.endsWith('/v1/messages')) return anthropic(request.json as { model?: string; stream?: boolean });
  if (path.endsWith('/responses')) return events(OPENAI);
  if (path.endsWith(':streamGenerateContent')) return events([gemini(ANSWER)]);
  if (path.endsWith(':generateContent')) return { body: gemini(CHOICE) };
  return { body: {} };
}

/** Server-sent events, each named by its type if it has one. */
const events =
  (all: readonly object[]): Answer =>
  (response: ServerResponse) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const event of all) {
      const name = 'type' in event ? `event: ${String(event.type)}\n` : '';
      response.write(`${name}data: ${JSON.stringify(event)}\n\n`);
    }
    response.end();
  };

function anthropic({ model, stream }: { model?: string; stream?: boolean }): Answer {
  const usage = { input_tokens: 10, output_tokens: 5 };
  const message = { id: 'msg_1', type: 'message', role: 'assistant', model, usage, stop_sequence: null };
  if (stream !== true)
    return { body: { ...message, content: [{ type: 'text', text: ANSWER }], stop_reason: 'end_turn' } };
  return events([
    { type: 'message_start', message: { ...message, content: [], stop_reason: null } },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: ANSWER } },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage },
    { type: 'message_stop' },
  ]);
}

const ITEM = {
  ...{ type: 'message', id: 'item_1', role: 'assistant', status: 'completed' },
  content: [{ type: 'output_text', text: ANSWER, annotations: [] }],
};
const RESPONSE = {
  ...{ id: 'response_1', object: 'response', status: 'completed', output: [ITEM] },
  usage: { input_tokens: 10, output_tokens: 5, total_tokens: 15 },
};
const OPENAI = [
  { type: 'response.created', response: { ...RESPONSE, status: 'in_progress', output: [] } },
  { type: 'response.output_item.done', output_index: 0, item: ITEM },
  { type: 'response.completed', response: RESPONSE },
];

/** Gemini CLI first lets a small model choose the model, and expects this answer as JSON. */
const CHOICE = JSON.stringify({ complexity_reasoning: 'short', complexity_score: 1 });

const gemini = (text: string): object => ({
  candidates: [{ content: { role: 'model', parts: [{ text }] }, finishReason: 'STOP', index: 0 }],
  usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 5, totalTokenCount: 15 },
});
