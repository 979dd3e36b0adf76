import assert from 'node:assert/strict';
import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';
import { describe, it } from 'node:test';
import { HttpPool } from '../../../../runtime/deliver/http-pool.ts';
import { AgentError } from '../../../../runtime/dispatch/agent-runner.ts';
import { createOpenAiAgent } from '../../../../runtime/dispatch/agents/openai.ts';
import { SecretError } from '../../../../runtime/platform/secrets.ts';
import type { Usage } from '../../../../runtime/store/usage.ts';
import type { OpenAiAgentPlan } from '../../../../schemas/generated/types.ts';

interface RecordedRequest {
  readonly url: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: unknown;
}

const request = {
  ...{ prompt: 'the prompt', toolsets: [], skills: [], session: 's', profile: 'default', route: 'r', event: 'e' },
  delivery_id: '1',
  signal: new AbortController().signal,
};

async function server(t: TestContext, answer: (response: ServerResponse) => void) {
  const seen: RecordedRequest[] = [];
  const http = createServer(async (incoming, response) => {
    let text = '';
    for await (const chunk of incoming) text += String(chunk);
    seen.push({ url: incoming.url, headers: incoming.headers, body: JSON.parse(text) });
    answer(response);
  });
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  const pool = new HttpPool();
  t.after(async () => {
    await pool.destroy();
    http.closeAllConnections();
    http.close();
  });
  const { port } = http.address() as AddressInfo;
  const agent = (overrides: Partial<OpenAiAgentPlan> = {}) =>
    createOpenAiAgent(
      {
        ...{
          kind: 'openai',
          base_url: `http://127.0.0.1:${port}/v1/`,
          model: 'm1',
          system: null,
          max_attempts: 1,
          max_concurrent: null,
          toolsets: null,
        },
        ...{ allow_http: false, timeout_seconds: 5, api_key: { kind: 'env', value: 'KEY', scope: 'default' } },
        ...overrides,
      },
      {
        http: pool,
        secrets: {
          resolve({ value }) {
            if (value === 'KEY') return 'the-key';
            throw new SecretError('missing');
          },
        },
      },
    );
  return { agent, seen };
}

const json =
  (body: unknown, status = 200) =>
  (response: ServerResponse) => {
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(typeof body === 'string' ? body : JSON.stringify(body));
  };
const says = (content: unknown) => json({ choices: [{ message: { role: 'assistant', content } }] });

describe('openai agent', () => {
  it('requests one chat completion and returns its text', async (t) => {
    const { agent, seen } = await server(t, says('the answer'));
    assert.equal(await agent({ system: 'be brief' }).run(request), 'the answer');
    assert.equal(seen[0]?.url, '/v1/chat/completions');
    assert.equal(seen[0]?.headers.authorization, 'Bearer the-key');
    assert.deepEqual(seen[0]?.body, {
      model: 'm1',
      messages: [
        { role: 'system', content: 'be brief' },
        { role: 'user', content: 'the prompt' },
      ],
    });
  });

  it('sends the earlier turns between the system message and the prompt', async (t) => {
    const { seen, agent } = await server(t, says('fine'));
    const said = [
      { prompt: 'one', answer: 'first' },
      { prompt: 'two', answer: 'second' },
    ];
    await agent({ system: 'be brief' }).run({ ...request, said });
    const body = seen[0]?.body as { readonly messages: readonly { role: string; content: string }[] } | undefined;
    assert.deepEqual(
      body?.messages.map(({ role, content }) => `${role}: ${content}`),
      [...['system: be brief', 'user: one', 'assistant: first', 'user: two', 'assistant: second'], 'user: the prompt'],
    );
  });

  it('declares outputs as tools, and uses the calls of its one response', async (t) => {
    const call = (name: string, args: unknown) => ({ id: 'c', type: 'function', function: { name, arguments: args } });
    const tool_calls = [
      call('note', '{"text":"one","output":"other"}'),
      call('note', '["no object"]'),
      call('note', { text: 'two' }),
    ];
    const { agent, seen } = await server(t, json({ choices: [{ message: { content: null, tool_calls } }] }));
    const tools = [{ name: 'note', description: 'd', parameters: { type: 'object' } }];
    let taken: readonly string[] = [];
    const outputs = {
      tools,
      take: (lines: readonly string[]) => {
        taken = lines;
      },
      refuse: () => {},
    };
    assert.equal(await agent().run({ ...request, outputs }), '');
    assert.equal(seen.length, 1);
    assert.deepEqual((seen[0]?.body as { tools?: unknown } | undefined)?.tools, [
      { type: 'function', function: tools[0] },
    ]);
    assert.deepEqual(taken, ['{"text":"one","output":"note"}', '["no object"]', '{"text":"two","output":"note"}']);
  });

  it('ignores calls of tools that it did not declare', async (t) => {
    const tool_calls = [{ function: { name: 'note', arguments: '{}' } }];
    const { agent, seen } = await server(t, json({ choices: [{ message: { content: null, tool_calls } }] }));
    await assert.rejects(agent().run(request), AgentError);
    assert.equal(Object.hasOwn(seen[0]?.body as object, 'tools'), false);
  });

  it('needs neither key nor system message', async (t) => {
    const { agent, seen } = await server(
      t,
      says([
        { type: 'text', text: 'in ' },
        { type: 'text', text: 'parts' },
      ]),
    );
    assert.equal(await agent({ api_key: null }).run(request), 'in parts');
    assert.equal(seen[0]?.headers.authorization, undefined);
    assert.deepEqual(seen[0]?.body, { model: 'm1', messages: [{ role: 'user', content: 'the prompt' }] });
  });

  const usages: readonly [unknown, Usage | null][] = [
    [
      { prompt_tokens: 12, completion_tokens: 3, total_tokens: 15 },
      { input_tokens: 12, output_tokens: 3, cost: null },
    ],
    [{ prompt_tokens: 12 }, { input_tokens: 12, output_tokens: null, cost: null }],
    [{ prompt_tokens: '12', completion_tokens: -3 }, null],
    [null, null],
  ];
  for (const [usage, expected] of usages) {
    it(`reports the usage ${JSON.stringify(usage)}`, async (t) => {
      const { agent } = await server(t, json({ choices: [{ message: { content: 'yes' } }], usage }));
      const used: Usage[] = [];
      assert.equal(await agent().run(request, { ended: () => {}, used: (told) => void used.push(told) }), 'yes');
      assert.deepEqual(used, expected === null ? [] : [expected]);
    });
  }

  const failures: readonly [string, (response: ServerResponse) => void, names?: RegExp][] = [
    ['a refused key', json({ error: { message: 'bad key the-key' } }, 401), /\b401\b/],
    ['a used-up quota', json('quota', 429), /\b429\b/],
    ['a broken server', json('<html>', 502), /\b502\b/],
    ['a redirect, which is not followed', json('', 307), /\b307\b/],
    ['no JSON', json('<html>')],
    ['no choices', json({ choices: [] })],
    ['a root that is not an object', json('null')],
    ['a prototype in place of fields', json('{"__proto__":{"choices":[]}}')],
    ['content that is not a text', says(null)],
    ['an endless answer', json(`"${'x'.repeat(5_000_000)}"`), /\b4194304\b/],
    ['a dropped connection', (response) => void response.destroy(), /UND_ERR_SOCKET/],
  ];
  for (const [what, answer, names = /^/] of failures) {
    it(`reports ${what} without the server's words`, async (t) => {
      const { agent } = await server(t, answer);
      await assert.rejects(agent().run(request), (error) => {
        assert.ok(error instanceof AgentError);
        assert.match(error.message, names);
        assert.doesNotMatch(error.message, /bad key|the-key|<html>|xxx/);
        return true;
      });
    });
  }

  it('is not created with a key that cannot be read', async (t) => {
    const { agent } = await server(t, says('x'));
    const api_key = { kind: 'env', value: 'OTHER', scope: 'default' } as const;
    assert.throws(() => agent({ api_key }), new SecretError('api_key: missing'));
  });

  it('ends when it is stopped', async (t) => {
    const { agent } = await server(t, () => {});
    const stop = new AbortController();
    const running = agent().run({ ...request, signal: stop.signal });
    setTimeout(() => stop.abort(), 50);
    await assert.rejects(running, AgentError);
  });
});
