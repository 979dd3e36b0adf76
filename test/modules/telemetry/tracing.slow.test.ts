/**
 * Tests traces across kill -9 and a stop, as a collector receives them from an installed gateway with the file of
 * docs/observability.md.
 */
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
import { runInProcess } from '../../helpers/cli.ts';
import { startFakeHttp } from '../../helpers/fake-http.ts';
import { until } from '../../helpers/gateway.ts';
import { startGatewayProcess } from '../../helpers/gateway-process.ts';
import { codeBlocks } from '../../helpers/markdown.ts';
import { installPacked } from '../../helpers/packed.ts';
import { ROOT } from '../../helpers/root.ts';
import { sendAgain } from '../../helpers/send-again.ts';
import { signed } from '../../helpers/serve.ts';
import { tempDir } from '../../helpers/temp-dir.ts';

const SECRET = 'b4f0c9d27e1a4d3fb1c5';
const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';

const OTHER = '0af7651916cd43dd8448eb211c80319c';
/** Packages that docs/observability.md says to install. */
const PEERS = ['api', 'resources', 'sdk-trace-base', 'exporter-trace-otlp-http'].map(
  (name) => `@opentelemetry/${name}`,
);

interface ReceivedSpan {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
}

/** Receives OTLP over HTTP as JSON. */
async function startCollector(t: TestContext) {
  const spans: ReceivedSpan[] = [];
  const services = new Set<string>();
  const server = createServer(async (request, response) => {
    const { resourceSpans } = (await json(request)) as {
      resourceSpans: {
        resource: { attributes: { key: string; value: { stringValue: string } }[] };
        scopeSpans: { spans: ReceivedSpan[] }[];
      }[];
    };
    for (const { resource } of resourceSpans)
      services.add(resource.attributes.find(({ key }) => key === 'service.name')?.value.stringValue ?? '');
    spans.push(...resourceSpans.flatMap((one) => one.scopeSpans.flatMap((scope) => scope.spans)));
    response.setHeader('content-type', 'application/json').end('{}');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close().closeAllConnections());
  return { spans, services, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

test('a run interrupted by a kill resumes in the trace of its request, and a stop loses no span', {
  timeout: 600_000,
}, async (t) => {
  const home = tempDir(t);
  const { spans, services, url } = await startCollector(t);
  const service = await startFakeHttp(t, () => ({ status: 204 }));
  const begun = join(home, 'begun');
  const seen = join(home, 'seen');
  // The first run never ends; the second one prints the span that it continues.
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
  const program = [process.execPath, await installPacked(home, PEERS)];
  const file = codeBlocks(readFileSync(join(ROOT, 'docs/observability.md'), 'utf8')).find(
    ({ note }) => note === 'file: tracing.mjs',
  );
  writeFileSync(join(home, 'tracing.mjs'), file?.text ?? assert.fail());
  const serve = (delayMs: number, more = {}) =>
    startGatewayProcess({
      ...{ home, program },
      env: {
        ...{
          NODE_OPTIONS: `--import=${pathToFileURL(join(home, 'tracing.mjs')).href}`,
          OTEL_EXPORTER_OTLP_ENDPOINT: url,
        },
        ...{ OTEL_BSP_SCHEDULE_DELAY: String(delayMs), ...more },
      },
    });
  const send = async (to: string, body: string, traceId: string): Promise<void> => {
    const headers = { ...signed(body, SECRET), traceparent: `00-${traceId}-00f067aa0ba902b7-01`, tracestate: 'v=1' };
    assert.equal((await sendAgain(`${to}/webhooks/ci`, { method: 'POST', body, headers })).status, 202);
  };
  const first = await serve(50);
  await send(first.url, '{}', TRACE);
  await until(() => Promise.resolve(existsSync(begun)));
  const find = (name: string, traceId = TRACE) => spans.find((span) => span.name === name && span.traceId === traceId);
  const received = await until(() => Promise.resolve(find('POST /webhooks/ci')));
  await first.kill();
  // Spans that end here wait ten minutes, or for the end of the program.
  const second = await serve(600_000);
  t.after(second.kill);
  await until(() => Promise.resolve(service.seen.length > 0));
  const ended = once(second.child, 'exit');
  second.child.kill('SIGTERM');
  assert.deepEqual(await ended, [0, null]);
  const sent = find('send http') ?? assert.fail(JSON.stringify(spans));
  const ran = find('process ci') ?? assert.fail(JSON.stringify(spans));
  for (const span of [received, ran, sent]) assert.equal(span.traceId, TRACE, span.name);
  assert.equal(received.parentSpanId, '00f067aa0ba902b7');
  for (const span of [ran, sent]) assert.equal(span.parentSpanId, received.spanId);
  assert.equal(service.seen[0]?.headers.traceparent, `00-${TRACE}-${sent.spanId}-01`);
  assert.equal(service.seen[0]?.headers.tracestate, 'v=1');
  assert.equal(readFileSync(seen, 'utf8').trim(), `00-${TRACE}-${ran.spanId}-01 v=1`);
  assert.deepEqual([...services], ['hookwright']);
  const third = await serve(600_000, { OTEL_SERVICE_NAME: 'ci' });
  t.after(third.kill);
  await send(third.url, '{"n":2}', OTHER);
  await until(() => Promise.resolve(service.seen.length > 1));
  const stopped = once(third.child, 'exit');
  await runInProcess(['gateway', 'stop'], { home });
  await stopped;
  for (const name of ['POST /webhooks/ci', 'process ci', 'send http']) assert.ok(find(name, OTHER), name);
  assert.deepEqual([...services], ['hookwright', 'ci']);
});
