/** Tests that no URL of a config carries credentials into a table, a log or a message, or sends them unencrypted. */
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, test } from 'node:test';
import { DIAGNOSTIC_FORMATS, printDiagnostics } from '../../compiler/print/print.ts';
import { HttpPool } from '../../runtime/deliver/http-pool.ts';
import { createOpenAiAgent } from '../../runtime/dispatch/agents/openai.ts';
import { compileFiles } from '../helpers/compile.ts';

const CANARY = 'hunter2-canary';
const WEBHOOK = 'webhook: { enabled: true, secret: env:A, routes: { a: { prompt: x } } }';

const openai = (url: string, more = ''): string =>
  `platforms: { ${WEBHOOK} }\nagent: { openai: { base_url: "${url}", model: m, api_key: env:KEY${more} } }\n`;
const target = (text: string): string => `platforms: { ${WEBHOOK}, ${text} }\n`;

const rulesOf = (config: string, files: Readonly<Record<string, string>> = {}) => {
  const { diagnostics, output } = compileFiles({ 'hookwright.yaml': config, ...files });
  for (const format of DIAGNOSTIC_FORMATS) {
    assert.ok(!printDiagnostics(format, diagnostics, { color: false, width: 120 }).includes('hunter2'));
  }
  assert.ok(!output?.routesJson.includes('hunter2'));
  return diagnostics.filter(({ severity }) => severity === 'error').map(({ rule }) => rule);
};

const REFUSED: Readonly<Record<string, string>> = {
  'an agent at another host over http': openai('http://llm.example/v1'),
  'an agent whose host only begins like this machine': openai('http://127.0.0.1.evil.example/v1'),
  'an agent in the local network': openai('http://192.168.1.5:11434/v1'),
  'an agent with a user name and a password': openai(`https://user:${CANARY}@llm.example/v1`),
  'an agent with a password on this machine': openai(`http://user:${CANARY}@localhost/v1`),
  'an agent with a key in the query': openai(`https://llm.example/v1?api_key=${CANARY}`),
  'an agent with another protocol': openai('ftp://llm.example/v1'),
  'an agent whose URL is none': openai('llm.example/v1'),
  'a target over http': target('telegram: { enabled: true, token: env:T, api_base: "http://far.example" }'),
  'a target with a password': target(
    `telegram: { enabled: true, token: env:T, api_base: "https://u:${CANARY}@x.example" }`,
  ),
  'a target with a key': target(
    `telegram: { enabled: true, token: env:T, api_base: "https://x.example/?token=${CANARY}" }`,
  ),
  'a target under an alias of its key': target(
    'imessage_bridge: { enabled: true, password: env:T, server: "http://far.example" }',
  ),
  "an incoming webhook's URL over http": target('slack: { enabled: true, webhook_url: "http://far.example/x" }'),
  'a target that is switched off': target('telegram: { enabled: false, token: env:T, api_base: "http://far.example" }'),
  'credentials in the public URL': `public_url: https://u:${CANARY}@x.example\n${target('')}`.replace(', }', ' }'),
  'credentials in the public URL of a route': target('')
    .replace('prompt: x', `prompt: x, public_url: "https://u:${CANARY}@x.example/y"`)
    .replace(', }', ' }'),
}; // prettier-ignore

describe('rejected', () => {
  for (const [name, config] of Object.entries(REFUSED))
    test(name, () => assert.deepEqual(rulesOf(config), ['unsafe-url']));

  test("a profile's agent", () => {
    const files = {
      '~/.hookwright/profiles/ops/config.yaml': 'agent: { openai: { base_url: "http://x.example", model: m } }\n',
    };
    assert.deepEqual(rulesOf(`platforms: { ${WEBHOOK} }\ngateway: { multiplex_profiles: true }\n`, files), [
      'unsafe-url',
    ]);
  });

  const pager = (base: string, exchange: string): string => `title: Pager
settings: { token: { secret: true, required: true, help: Token. } }
address: { chat_id: { help: Number. } }
base: ${base}
request: { path: /x, headers: { authorization: "Bearer {exchanged_token}" }, json: { text: "{text}" } }
exchange: { base: ${exchange}, request: { path: /token, json: { t: "{token}" } }, token: token }
`;
  for (const [name, text] of [
    ['the base URL of a target of the own catalog', pager('http://far.example', 'https://far.example')],
    ['its token endpoint', pager('https://far.example', 'http://far.example')],
  ] as const) {
    test(name, () => {
      const files = { '~/.hookwright/catalog/targets/pager.yaml': text };
      assert.deepEqual(rulesOf(target('pager: { enabled: true, token: env:T }'), files), ['unsafe-url']);
      assert.deepEqual(rulesOf(target('pager: { enabled: true, token: env:T, allow_http: true }'), files), []);
    });
  }
});

const TAKEN: Readonly<Record<string, string>> = {
  https: openai('https://llm.example/v1'),
  'http on this machine': openai('http://localhost:11434/v1'),
  'http over IPv6 on this machine': openai('http://[::1]:11434/v1'),
  'http that the operator allows': openai('http://ollama:11434/v1', ', allow_http: true'),
  'a version in the query': openai('https://llm.example/v1?api-version=2'),
  'a target on this machine': target('telegram: { enabled: true, token: env:T, api_base: "http://127.0.0.1:8081" }'),
  'a target over http that the operator allows': target(
    'telegram: { enabled: true, token: env:T, api_base: "http://far.example", allow_http: true }',
  ),
  'a public URL without encryption': `public_url: http://x.example\n${target('')}`.replace(', }', ' }'),
}; // prettier-ignore

describe('accepted', () => {
  for (const [name, config] of Object.entries(TAKEN)) test(name, () => assert.deepEqual(rulesOf(config), []));
});

const OPENAI = { clock: { now: () => 0 }, redact: (text: string) => text };
const AGENT = {
  kind: 'openai',
  model: 'm',
  system: null,
  timeout_seconds: 5,
  max_attempts: 1,
  max_concurrent: null,
  toolsets: null,
  allow_http: false,
} as const;
const REQUEST = { prompt: 'x', toolsets: [], skills: [], session: '', profile: 'default', route: '', event: '' };

test('an agent of a foreign table does not send its key either', async () => {
  const context = { ...OPENAI, http: new HttpPool(), secrets: { resolve: () => assert.fail('the key was read') } };
  const key = { kind: 'env', value: 'KEY', scope: 'default' } as const;
  for (const base_url of [
    'http://far.example/v1',
    `https://u:${CANARY}@far.example/v1`,
    `https://far.example?key=${CANARY}`,
  ]) {
    const runner = createOpenAiAgent({ ...AGENT, base_url, api_key: key }, context);
    const run = runner.run({ ...REQUEST, delivery_id: '', signal: new AbortController().signal });
    await assert.rejects(run, (error: Error) => !error.message.includes('hunter2'));
  }
});

test("a query of the agent's URL stays a query", async (t) => {
  const seen: (string | undefined)[] = [];
  const server = createServer(({ url }, response) => {
    seen.push(url);
    response.end('{"choices":[{"message":{"content":"yes"}}]}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const http = new HttpPool();
  t.after(async () => {
    await http.destroy();
    server.close();
  });
  const base_url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/?api-version=2`;
  const runner = createOpenAiAgent(
    { ...AGENT, base_url, api_key: null },
    { ...OPENAI, http, secrets: { resolve: () => '' } },
  );
  assert.equal(await runner.run({ ...REQUEST, delivery_id: '', signal: new AbortController().signal }), 'yes');
  assert.deepEqual(seen, ['/v1/chat/completions?api-version=2']);
});
