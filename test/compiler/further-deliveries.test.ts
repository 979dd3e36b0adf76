/** Deliveries of alerts, approvals and failures are checked like `deliver` of a route, and each mistake is reported once. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compileConfig } from '../helpers/compile.ts';

const found = (gateway: string, route = ''): readonly string[] =>
  compileConfig(
    `gateway: { ${gateway} }\nplatforms: { webhook: { enabled: true, secret: env:S, routes: { a: { prompt: x${route} } } }, slack: { enabled: true, token: env:T }, telegram: { enabled: true, token: env:T } }\n`,
  ).diagnostics.map(({ rule, source, range }) => `${rule} ${source.text.slice(range.start, range.end)}`);

const to = 'deliver: telegram, deliver_extra: { chat_id: c-1, tread_id: "7" }';
const expected = ['address-form c-1', 'unknown-deliver-extra tread_id'];

test('alerts', () => assert.deepEqual(found(`alerts: { ${to} }`), ['lone-alert-target telegram', ...expected]));
test('approvals', () => assert.deepEqual(found(`approvals: { ${to} }`), expected));
test('failures of a route', () => assert.deepEqual(found('', `, on_failure: { ${to} }`), expected));

test('reports failures of a route with outputs once', () => {
  const outputs = 'outputs: { page: { deliver: slack, chat_id: C01 }, tell: { deliver: slack, chat_id: C02 } }';
  assert.deepEqual(found('', `, on_failure: { ${to} }, ${outputs}`), expected);
});

test('failures of a job', () => {
  assert.deepEqual(found(`}\njobs: { j: { schedule: "0 9 * * *", prompt: x, on_failure: { ${to} } }`), expected);
});

test('rejects a heartbeat that is too frequent or has an invalid URL', () => {
  assert.deepEqual(found('heartbeat: { url: "https://example.org/x", every: 5s }'), ['invalid-value 5s']);
  assert.deepEqual(found('heartbeat: { url: "ftp://example.org/x" }'), ['unsafe-url "ftp://example.org/x"']);
  for (const every of ['10s', '90s', '1m', '24h'])
    assert.deepEqual(found(`heartbeat: { url: "http://example.org/x", every: ${every} }`), []);
});
