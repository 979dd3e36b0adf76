/** The code host, chat and model that the routes use, and a server of the stranger: they record every request. */
import type { IncomingMessage } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Plan, SeenRequest } from './goals.ts';

export interface Hosts {
  readonly api: string;
  readonly stranger: string;
  readonly requests: readonly SeenRequest[];
  /** Cases whose text a model saw in the prompt of another one. */
  readonly mixed: ReadonlySet<string>;
  close(): void;
}

interface ChatRequest {
  readonly messages: readonly { readonly role: string; readonly content: string }[];
  readonly tools?: readonly { readonly function: { readonly name: string } }[];
}

/** A model that does whatever a text says, with the only means that a model has: its answer, and calls of tools. */
function complete({ messages, tools = [] }: ChatRequest, mixed: Set<string>): object {
  const prompt = messages.at(-1)?.content ?? '';
  const [, id = ''] = /\b(c\d+x)\b/.exec(prompt) ?? [];
  const all = messages.map(({ content }) => content).join('\n');
  for (const [, other = ''] of all.matchAll(/\b(c\d+x)\b/g)) if (other !== id) mixed.add(other);
  const plans = [...prompt.matchAll(/INJECT([\w+/=]+)TCEJNI/g)].map(
    ([, text = '']) => JSON.parse(Buffer.from(text, 'base64').toString('utf8')) as Plan,
  );
  const has = (name: string): boolean => tools.some((tool) => tool.function.name === name);
  const task = [
    ...(has('comment') ? [{ output: 'comment', text: `ok-${id}` }] : []),
    ...(has('label') ? [{ output: 'label', labels: ['bug'] }] : []),
  ];
  const calls = [...task, ...plans.flatMap(({ outputs }) => outputs)].map(({ output, ...fields }, at) => {
    return { id: `call_${at}`, type: 'function', function: { name: output, arguments: JSON.stringify(fields) } };
  });
  const content = [`ok-${id}`, ...plans.map(({ answer }) => answer)].join('\n').trim();
  const message = { role: 'assistant', content, ...(calls.length === 0 ? {} : { tool_calls: calls }) };
  const finish_reason = calls.length === 0 ? 'stop' : 'tool_calls';
  return { choices: [{ index: 0, finish_reason, message }], usage: { prompt_tokens: 1, completion_tokens: 1 } };
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}

function respond(method: string, path: string): object {
  if (path.startsWith('/api/')) return { ok: true, channel: 'C1', ts: '1.1' };
  // A post that is tried again is looked for first.
  if (path.endsWith('/labels') || (method === 'GET' && /\/comments\b/.test(path))) return [];
  return method === 'GET' ? { login: 'the-bot', id: 7 } : { id: 1, html_url: 'http://127.0.0.1/1' };
}

export async function startHosts(): Promise<Hosts> {
  const requests: SeenRequest[] = [];
  const mixed = new Set<string>();
  const listen = async (to: SeenRequest['to']) => {
    const server = createServer(async (request, response) => {
      const { method = '', url: path = '' } = request;
      const body = await textOf(request);
      const isModel = to === 'api' && path === '/v1/chat/completions';
      if (!isModel) requests.push({ to, method, path, body });
      response.setHeader('content-type', 'application/json');
      response.statusCode = method === 'POST' && path.endsWith('/comments') ? 201 : 200;
      response.end(JSON.stringify(isModel ? complete(JSON.parse(body) as ChatRequest, mixed) : respond(method, path)));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
  };
  const api = await listen('api');
  const stranger = await listen('stranger');
  const close = (): void => {
    for (const { server } of [api, stranger]) {
      server.closeAllConnections();
      server.close();
    }
  };
  return { api: api.url, stranger: stranger.url, requests, mixed, close };
}
