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
  type Overrides = Partial<OpenAiAgentPlan>;
  const base_url = `http://127.0.0.1:${port}/v1/`;
  const agent = (given: Overrides | ((of: { base_url: string }) => Overrides) = {}) => {
    const overrides = typeof given === 'function' ? given({ base_url }) : given;
    return createOpenAiAgent(
      {
        ...{
          kind: 'openai',
          base_url,
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
        clock: { now: () => NOW },
        redact: (text) => text.replaceAll('the-key', '***'),
        secrets: {
          resolve({ kind, value }) {
            if (kind === 'literal') return value;
            if (value === 'KEY') return 'the-key';
            throw new SecretError('missing');
          },
        },
      },
    );
  };
  return { agent, seen };
}

/** 2026-11-28 16:00 UTC. */
const NOW = 1_795_881_600_000;

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

  it('sends the settings of the agent in body, headers and query', async (t) => {
    const { agent, seen } = await server(t, says('fine'));
    const literal = { kind: 'literal', value: 'hookwright', scope: 'default' } as const;
    await agent(({ base_url }) => ({
      base_url: `${base_url}?api-version=2024-10-21`,
      api_key: null,
      headers: { 'Api-Key': { kind: 'env', value: 'KEY', scope: 'default' }, 'x-title': literal, accept: literal },
      body: { max_tokens: 7, temperature: 0.5, reasoning_effort: 'low' },
    })).run(request);
    const { url, headers, body } = seen[0] as RecordedRequest;
    assert.equal(url, '/v1/chat/completions?api-version=2024-10-21');
    const { max_tokens, temperature, reasoning_effort } = body as Record<string, unknown>;
    assert.deepEqual([max_tokens, temperature, reasoning_effort], [7, 0.5, 'low']);
    const sent = [headers['api-key'], headers['x-title'], headers.accept, headers.authorization];
    assert.deepEqual(sent, ['the-key', 'hookwright', 'application/json', undefined]);
  });

  const usages: readonly [unknown, Usage | null][] = [
    [
      { prompt_tokens: 12, completion_tokens: 3, total_tokens: 15, cost: 0.0021 },
      { input_tokens: 12, output_tokens: 3, cost: 0.0021 },
    ],
    [
      { prompt_tokens: 12, cost: null },
      { input_tokens: 12, output_tokens: null, cost: null },
    ],
    [{ prompt_tokens: '12', completion_tokens: -3, cost: '1' }, null],
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

  it('reports the usage of a run that fails', async (t) => {
    const choices = [{ finish_reason: 'length', message: { content: 'cut' } }];
    const { agent } = await server(t, json({ choices, usage: { prompt_tokens: 5 } }));
    const used: Usage[] = [];
    await assert.rejects(agent().run(request, { ended: () => {}, used: (told) => void used.push(told) }), AgentError);
    assert.deepEqual(used, [{ input_tokens: 5, output_tokens: null, cost: null }]);
  });

  describe('never delivers reasoning', () => {
    const REASONED = 'we weigh <b> and </b>';
    const answers: readonly [string, object, string][] = [
      ['in fields', { content: 'yes', reasoning_content: REASONED, reasoning: REASONED }, 'yes'],
      ['in a block', { content: `\n<think>\n${REASONED}\n</think>\n\nyes` }, 'yes'],
      [
        'in several blocks',
        { content: `<think>${REASONED}</think><Thinking>${REASONED}</Thinking>[THINK]x[/THINK] yes` },
        'yes',
      ],
      ['in an empty block', { content: '<think>\n\n</think>\n\nyes' }, 'yes'],
      ['in a block without its start', { content: `${REASONED}\n</think>\n\nyes` }, 'yes'],
      [
        'in parts',
        {
          content: [
            { type: 'thinking', thinking: [{ type: 'text', text: REASONED }] },
            { type: 'reasoning', text: REASONED },
            { type: 'text', text: 'ye' },
            { text: 's' },
          ],
        },
        'yes',
      ],
      ['in a block in a block', { content: `<think>a<think>${REASONED}</think>b</think>yes` }, 'yes'],
      ['in a block that names its start', { content: `<think>a <think> ${REASONED}</think>yes` }, 'yes'],
      ['before an end in the same line', { content: `${REASONED}</think>yes` }, 'yes'],
      ['but an end that the text names', { content: 'It ends with `</think>`.' }, 'It ends with `</think>`.'],
      ['but a tag in the answer', { content: '<think>x</think>a </think> b' }, 'a </think> b'],
      ['but text about tags', { content: 'Close `<think>` with `</think>`.' }, 'Close `<think>` with `</think>`.'],
      ['but code with tags', { content: 'Write\n<think>\nx\n</think>\nfirst' }, 'Write\n<think>\nx\n</think>\nfirst'],
    ];
    for (const [where, message, expected] of answers) {
      it(where, async (t) => {
        const { agent } = await server(t, json({ choices: [{ finish_reason: 'stop', message }] }));
        assert.equal(await agent().run(request), expected);
      });
    }

    const nothing: readonly object[] = [
      { content: '', reasoning_content: REASONED },
      { content: null, reasoning: REASONED },
      { content: '', thinking: REASONED },
      { content: `<think>${REASONED}</think>\n` },
      { content: `<think>${REASONED}` },
      { content: [{ type: 'reasoning', text: REASONED }], reasoning_details: [{ text: REASONED }] },
    ];
    for (const message of nothing) {
      it(`and fails without an answer: ${JSON.stringify(message)}`, async (t) => {
        const { agent } = await server(t, json({ choices: [{ finish_reason: 'stop', message }] }));
        await assert.rejects(agent().run(request), (error: Error) => !error.message.includes('weigh'));
      });
    }

    it('in time, however long it is', async (t) => {
      const long = `${'<think> '.repeat(200_000)}${'</thin '.repeat(200_000)}`;
      const { agent } = await server(t, says(`${long}</think>yes`));
      assert.equal(await agent().run(request), 'yes');
      const { agent: other } = await server(t, says(`x${' \n'.repeat(1_000_000)}</think>\nyes`));
      assert.equal(await other().run(request), 'yes');
    });
  });

  it('delivers an empty answer as one', async (t) => {
    const { agent } = await server(t, says(''));
    assert.equal(await agent().run(request), '');
  });

  const cut: readonly [finish: string, reason: RegExp][] = [
    ['length', /\(length\)/],
    ['model_length', /\(length\)/],
    ['MAX_TOKENS', /\(length\)/],
    ['max_output_tokens', /\(length\)/],
    ['model_context_window_exceeded', /\(length\)/],
    ['SAFETY', /\(content_filter\)/],
    ['sensitive', /\(content_filter\)/],
    ['insufficient_system_resource', /insufficient_system_resource/],
    ['network_error', /network_error/],
    ['abort', /abort/],
    ['a reason of\ntomorrow', /unknown/],
    ['content_filter', /\(content_filter\)/],
    ['content_filter: RECITATION', /\(content_filter\)/],
  ];
  for (const [finish_reason, reason] of cut) {
    it(`fails for an answer that was cut (${finish_reason}), unless it may be delivered`, async (t) => {
      const { agent } = await server(t, json({ choices: [{ finish_reason, message: { content: 'the begin' } }] }));
      await assert.rejects(agent().run(request), { name: 'AgentError', message: reason, failure: {} });
      assert.equal(await agent({ deliver_truncated: true }).run(request), 'the begin');
      const { agent: empty } = await server(t, json({ choices: [{ finish_reason, message: { content: '' } }] }));
      await assert.rejects(empty({ deliver_truncated: true }).run(request), { message: reason });
    });
  }

  for (const finish_reason of ['stop', 'STOP', 'end_turn', 'stop_sequence', 'eos', 'tool_calls', '', null, undefined])
    it(`delivers an answer that is complete (${finish_reason})`, async (t) => {
      const { agent } = await server(t, json({ choices: [{ finish_reason, message: { content: 'yes' } }] }));
      assert.equal(await agent().run(request), 'yes');
    });

  const refusals: readonly object[] = [
    { finish_reason: 'stop', message: { content: null, refusal: 'I cannot help' } },
    { finish_reason: 'stop', message: { content: [{ type: 'refusal', refusal: 'I cannot help' }] } },
    { finish_reason: 'refusal', message: { content: 'I cannot help' } },
  ];
  for (const choice of refusals) {
    it(`fails for the refusal ${JSON.stringify(choice)}`, async (t) => {
      const { agent } = await server(t, json({ choices: [choice] }));
      const refused = { name: 'AgentError', message: 'the model refused to answer' };
      await assert.rejects(agent({ deliver_truncated: true }).run(request), refused);
    });
  }

  it('takes a call in the older form', async (t) => {
    const function_call = { name: 'note', arguments: '{"text":"one"}' };
    const { agent } = await server(t, json({ choices: [{ message: { content: null, function_call } }] }));
    const taken: string[] = [];
    const outputs = { tools: [], take: (lines: readonly string[]) => void taken.push(...lines), refuse: () => {} };
    assert.equal(await agent().run({ ...request, outputs }), '');
    assert.deepEqual(taken, ['{"text":"one","output":"note"}']);
  });

  const failures: readonly [string, (response: ServerResponse) => void, names?: RegExp][] = [
    ['a refused key', json({ error: { message: 'bad key the-key' } }, 401), /\b401\b/],
    [
      'the code of an error',
      json({ error: { code: 'context_length_exceeded', message: '<html>' } }, 400),
      /\(400\): context_length_exceeded$/,
    ],
    ['no code with a secret', json({ error: { code: 'no-the-key' } }, 400), /: no-\*\*\*$/],
    ['no text instead of a code', json({ error: { code: 'bad key xxx', type: 'quota' } }, 429), /: quota$/],
    [
      'an error of another form',
      json({ object: 'error', type: 'NotFoundError', code: 404 }, 404),
      /\(404\): NotFoundError$|\(404\)$/,
    ],
    ['a used-up quota', json('quota', 429), /\b429\b/],
    ['a broken server', json('<html>', 502), /\b502\b/],
    ['a redirect, which is not followed', json('', 307), /\b307\b/],
    ['an error with status 200', json({ error: { message: 'bad key', code: 429 } }), /\b429\b/],
    ['an error text with status 200', json({ error: 'bad key' }), /reported an error$/],
    ['an error in a choice', json({ choices: [{ error: { code: 502 }, message: { content: 'half' } }] }), /\b502\b/],
    [
      'an error as the end',
      json({ choices: [{ finish_reason: 'error', message: { content: 'half' } }] }),
      /reported an error$/,
    ],
    ['no JSON', json('<html>')],
    ['no choices', json({ choices: [] })],
    ['a root that is not an object', json('null')],
    ['a prototype in place of fields', json('{"__proto__":{"choices":[]}}')],
    ['content that is not a text', says(null)],
    ['an endless answer', json(`"${'x'.repeat(5_000_000)}"`), /\b4194304\b/],
    ['the status of an endless error', json(`"${'x'.repeat(5_000_000)}"`, 503), /\b503\b/],
    ['a dropped connection', (response) => void response.destroy(), /UND_ERR_SOCKET/],
  ];
  for (const [what, answer, names = /^/] of failures) {
    it(`reports ${what} without the server's words`, async (t) => {
      const { agent } = await server(t, answer);
      await assert.rejects(agent().run(request), (error) => {
        assert.ok(error instanceof AgentError);
        assert.match(error.message, names);
        assert.doesNotMatch(error.message, /bad key|the-key|<html>|xxx|half/);
        return true;
      });
    });
  }

  it('ignores an error that is null', async (t) => {
    const { agent } = await server(t, json({ error: null, choices: [{ error: null, message: { content: 'yes' } }] }));
    assert.equal(await agent().run(request), 'yes');
  });

  it('asks for another attempt only if it may succeed', async (t) => {
    for (const status of [400, 401, 403, 404, 408, 409, 413, 422, 429, 500, 502, 503, 529]) {
      const isPermanent = status < 500 && ![408, 409, 429].includes(status);
      const { agent } = await server(t, json({}, status));
      await assert.rejects(agent().run(request), { failure: { permanent: isPermanent, retryAfterMs: null } });
      const { agent: within } = await server(t, json({ error: { code: status } }));
      await assert.rejects(within().run(request), { failure: { permanent: isPermanent, retryAfterMs: null } });
    }
  });

  it('asks for another attempt if the server says so, and for none if it says that', async (t) => {
    for (const [status, advice, permanent] of [
      [429, 'false', true],
      [503, 'false', true],
      [400, 'true', false],
      [429, 'constructor', false],
      [400, '', true],
    ] as const) {
      const { agent } = await server(t, (response) => {
        response.writeHead(status, { 'x-should-retry': advice }).end('{}');
      });
      await assert.rejects(agent().run(request), { failure: { permanent, retryAfterMs: null } });
    }
  });

  const waits: readonly [headers: Record<string, string>, ms: number | null][] = [
    [{ 'retry-after': '7' }, 7000],
    [{ 'retry-after': '1.5' }, 1500],
    [{ 'retry-after': 'Sat, 28 Nov 2026 16:00:09 GMT' }, 9000],
    [{ 'retry-after': 'Sat, 28 Nov 2026 15:00:00 GMT' }, 0],
    [{ 'retry-after': '7', 'retry-after-ms': '6500' }, 6500],
    [{ 'retry-after': 'soon' }, null],
    [{ 'retry-after': '-3' }, null],
  ];
  for (const [headers, retryAfterMs] of waits) {
    it(`passes on how long to wait: ${JSON.stringify(headers)}`, async (t) => {
      const { agent } = await server(t, (response) => void response.writeHead(429, headers).end('{}'));
      await assert.rejects(agent().run(request), { failure: { permanent: false, retryAfterMs } });
    });
  }

  it('is not created with a header that cannot be sent', async (t) => {
    const { agent } = await server(t, says('x'));
    const value = 'a\nb';
    const headers = { 'x-a': { kind: 'literal', value, scope: 'default' } } as const;
    assert.throws(
      () => agent({ headers }),
      (error) => error instanceof SecretError && !error.message.includes(value),
    );
  });

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
