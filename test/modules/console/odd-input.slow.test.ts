/** Odd paths, parameters and bodies for every operation: each is rejected as documented, and none causes an internal error. */
import assert from 'node:assert/strict';
import { request } from 'node:http';
import { it } from 'node:test';
import { checkAnswer, document, startConsole } from '../../helpers/console.ts';

const CONFIG = `platforms: { webhook: { enabled: true, secret: a-literal-secret-for-tests, routes: { hello: { prompt: x } } } }
jobs: { brief: { schedule: "0 8 * * *", prompt: Brief me. } }
gateway: { console: { port: 0 } }
`;

const PARTS = [
  '..',
  '.',
  '%2e%2e%2f',
  '%00',
  '%ff',
  '%',
  '%2F',
  '%E2%80%AE',
  '__proto__',
  'x'.repeat(3000),
  "';--",
  ' ',
  '%0d%0aX:y',
];
const QUERIES = [
  'a=1',
  'limit=-1',
  'limit=1e3',
  'limit=',
  'cursor=%00',
  'since=9999999999999999999',
  'route=%00',
  'grep=%00',
  'profile=__proto__',
  '__proto__=1',
  'limit=1&limit=2',
  '%ff=%ff',
  'job=%F0%9F%92%A9',
  'grep=%25%25_!%5C',
];
const BODIES = [
  'null',
  '[]',
  '"x"',
  '{',
  '{"__proto__":{"a":1}}',
  '{"constructor":1}',
  '{"approve":{}}',
  '{"ids":[]}',
  '{"ids":[{}]}',
  '{"values":null}',
  '{"values":{"__proto__":"x"}}',
  '{"seconds":1e308}',
  '{"seconds":0.5}',
  '{"payload":1}',
  `{"a":${'['.repeat(50_000)}${']'.repeat(50_000)}}`,
  '\u0000',
];

/** Sends the path verbatim; \`fetch\` would normalize it. */
const send = (
  url: string,
  method: string,
  path: string,
  body: string | null,
): Promise<readonly [status: number, text: string]> =>
  new Promise((resolve, reject) => {
    const headers = body === null ? {} : { 'content-type': 'application/json' };
    const sent = request({ host: '127.0.0.1', port: new URL(url).port, path, method, headers }, async (response) => {
      let text = '';
      for await (const chunk of response) text += chunk;
      resolve([response.statusCode ?? 0, text]);
    });
    sent.once('error', reject).end(body ?? '');
  });

it('rejects odd input at every operation', async (t) => {
  const { url, gateway } = await startConsole(t, CONFIG);
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, { operationId }]) =>
      operationId === undefined ? [] : [{ path, method: method.toUpperCase() }],
    ),
  );
  assert.ok(operations.length > 20);
  const check = async (method: string, template: string, path: string, body: string | null): Promise<void> => {
    const [status, text] = await send(url, method, path, body);
    assert.ok(status < 500, `${method} ${path.slice(0, 80)} ${body?.slice(0, 40)}: ${status} ${text}`);
    checkAnswer(method, status < 300 ? template.replace(/\{\w+\}/g, 'x') : '/nothing', status, JSON.parse(text));
  };
  for (const { path, method } of operations) {
    const filled = path.replace(/\{\w+\}/g, 'hello');
    const odd = path.includes('{') ? PARTS.map((part) => path.replace(/\{\w+\}/g, part)) : [];
    for (const each of odd)
      await check(method, path, encodeURI(each).replaceAll('%25', '%'), method === 'GET' ? null : '{}');
    for (const query of QUERIES) await check(method, path, `${filled}?${query}`, method === 'GET' ? null : '{}');
    if (method !== 'GET') for (const body of BODIES) await check(method, path, filled, body);
  }
  assert.doesNotMatch(gateway.running.stderr(), /the console cannot answer|"level":"?(?:error|50)/);
});
