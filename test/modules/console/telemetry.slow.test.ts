/** A trace over kill -9, as a collector receives it from a gateway whose program has registered the SDK. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import type { TestContext } from 'node:test';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { startFakeHttp } from '../../helpers/fake-http.ts';
import { until } from '../../helpers/gateway.ts';
import { startGatewayProcess } from '../../helpers/gateway-process.ts';
import { ROOT } from '../../helpers/root.ts';
import { signed } from '../../helpers/serve.ts';
import { tempDir } from '../../helpers/temp-dir.ts';

const SECRET = 'b4f0c9d27e1a4d3fb1c5';
const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';

interface ReceivedSpan {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
}

/** Takes OTLP over HTTP as JSON. */
async function startCollector(t: TestContext) {
  const spans: ReceivedSpan[] = [];
  const server = createServer(async (request, response) => {
    const { resourceSpans } = (await json(request)) as {
      resourceSpans: { scopeSpans: { spans: ReceivedSpan[] }[] }[];
    };
    spans.push(...resourceSpans.flatMap((one) => one.scopeSpans.flatMap((scope) => scope.spans)));
    response.setHeader('content-type', 'application/json').end('{}');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close().closeAllConnections());
  return { spans, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

test('a run that a kill has cut off goes on in the trace of its request', { timeout: 600_000 }, async (t) => {
  const home = tempDir(t);
  const { spans, url } = await startCollector(t);
  const service = await startFakeHttp(t, () => ({ status: 204 }));
  const begun = join(home, 'begun');
  const seen = join(home, 'seen');
  // The first run never ends; the second one says which span it continues.
  const script = `test -e ${begun} || { touch ${begun}; sleep 600; }; echo $TRACEPARENT $TRACESTATE > ${seen}; cat`;
  writeFileSync(join(home, 'agent.sh'), script);
  const config = {
    platforms: {
      webhook: { enabled: true, port: 0, secret: SECRET, routes: { ci: { prompt: 'look', deliver: 'http' } } },
      http: { enabled: true, url: service.url, allow_http: true, allow_private: true },
    },
    agent: { command: ['sh', join(home, 'agent.sh')], confined: 'a test' },
  };
  writeFileSync(join(home, 'config.yaml'), JSON.stringify(config), { mode: 0o600 });
  const sdk = pathToFileURL(join(ROOT, 'test/helpers/otel-sdk.mjs')).href;
  const env = { NODE_OPTIONS: `--import=${sdk}`, OTEL_EXPORTER_OTLP_ENDPOINT: url };
  const first = await startGatewayProcess({ home, env });
  const body = '{}';
  const headers = { ...signed(body, SECRET), traceparent: `00-${TRACE}-00f067aa0ba902b7-01`, tracestate: 'v=1' };
  const answer = await fetch(`${first.url}/webhooks/ci`, { method: 'POST', body, headers });
  assert.equal(answer.status, 202);
  await until(() => Promise.resolve(existsSync(begun)));
  const find = (name: string) => spans.find((span) => span.name === name);
  const received = await until(() => Promise.resolve(find('POST /webhooks/ci')));
  await first.kill();
  const second = await startGatewayProcess({ home, env });
  t.after(second.kill);
  const sent = await until(() => Promise.resolve(find('send http')));
  const ran = await until(() => Promise.resolve(find('process ci')));
  for (const span of [received, ran, sent]) assert.equal(span.traceId, TRACE, span.name);
  assert.equal(received.parentSpanId, '00f067aa0ba902b7');
  for (const span of [ran, sent]) assert.equal(span.parentSpanId, received.spanId);
  assert.equal(service.seen[0]?.headers.traceparent, `00-${TRACE}-${sent.spanId}-01`);
  assert.equal(service.seen[0]?.headers.tracestate, 'v=1');
  assert.equal(readFileSync(seen, 'utf8').trim(), `00-${TRACE}-${ran.spanId}-01 v=1`);
});
