/** Tests traces of events, with OpenTelemetry's SDK registered in this process. */
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { describe, it } from 'node:test';
import { createTraceState, trace } from '@opentelemetry/api';
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { compileText } from '../../../main/compiler.ts';
import { MODULES } from '../../../main/modules.ts';
import { openTracing, parseTraceContext, printTraceContext } from '../../../modules/telemetry/runtime/tracing.ts';
import type { AgentRequest } from '../../../runtime/dispatch/agent-runner.ts';
import { createService } from '../../../runtime/service/service.ts';
import { atEnd } from '../../helpers/at-end.ts';
import type { TestedConsole } from '../../helpers/console.ts';
import { startConsole } from '../../helpers/console.ts';
import { startFakeHttp } from '../../helpers/fake-http.ts';
import { until } from '../../helpers/gateway.ts';
import { recordLog } from '../../helpers/log.ts';
import { SECRET } from '../../helpers/route-table.ts';
import { sendAgain } from '../../helpers/send-again.ts';
import { signed } from '../../helpers/serve.ts';
import { tempDir } from '../../helpers/temp-dir.ts';

const PARTS = MODULES.flatMap(({ runtime }) => runtime ?? []);
const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const PARENT = `00-${TRACE}-00f067aa0ba902b7-01`;

function registerSdk(t: TestContext): InMemorySpanExporter {
  const exporter = new InMemorySpanExporter();
  const spanProcessors = [new SimpleSpanProcessor(exporter)];
  trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors }));
  atEnd(t, () => trace.disable());
  return exporter;
}

const CONFIG = `
platforms:
  webhook:
    enabled: true
    secret: ${SECRET}
    routes:
      ci: { prompt: "{a}", deliver: log }
      broken: { prompt: fail, deliver: log, on_failure: { deliver: local } }
      picky: { prompt: "{a}", deliver: log, events: [never] }
`;

async function serve(t: TestContext, yaml = CONFIG) {
  const home = tempDir(t);
  const { table } = await compileText(yaml, { home, env: {} });
  assert.ok(table);
  const log = recordLog();
  const asked: AgentRequest[] = [];
  const agent = (request: AgentRequest): string => {
    asked.push(request);
    if (request.prompt === 'fail') throw new Error('no');
    return 'done';
  };
  const service = await createService({ table, home, port: 0, log, agent }, PARTS);
  atEnd(t, () => service.stop({ drainMs: 0 }));
  const { url } = await service.listen();
  const send = (route: string, headers: Readonly<Record<string, string>> = {}, body = '{"a":1}') =>
    sendAgain(`${url}/webhooks/${route}`, { method: 'POST', body, headers: { ...signed(body, SECRET), ...headers } });
  return { send, log, asked };
}

/** Spans by name, once all of them have ended. */
async function spansOf(exporter: InMemorySpanExporter, names: readonly string[]) {
  const find = (name: string) => exporter.getFinishedSpans().find((span) => span.name === name);
  return until(() => Promise.resolve(names.every(find) && names.map((name) => find(name) ?? assert.fail(name))));
}

const LIMIT = { timeout: 60_000 };

describe('an event with an SDK', () => {
  it("has one trace from request to delivery, which continues the sender's", LIMIT, async (t) => {
    const exporter = registerSdk(t);
    const { send, asked, log } = await serve(t);
    await send('ci', { traceparent: PARENT, tracestate: 'b=2,a@c=1' });
    const names = ['POST /webhooks/ci', 'process ci', 'send log'];
    const [received, ran, sent] = await spansOf(exporter, names);
    assert.ok(received !== undefined && ran !== undefined && sent !== undefined);
    for (const span of [received, ran, sent]) {
      assert.equal(span.spanContext().traceId, TRACE, span.name);
      assert.equal(span.spanContext().traceState?.serialize(), 'b=2,a@c=1', span.name);
    }
    assert.equal(received.parentSpanContext?.spanId, '00f067aa0ba902b7');
    for (const span of [ran, sent]) assert.equal(span.parentSpanContext?.spanId, received.spanContext().spanId);
    assert.equal(received.attributes['http.response.status_code'], 202);
    assert.equal(received.attributes['hookwright.outcome'], 'accepted');
    assert.equal(ran.attributes['messaging.destination.name'], 'ci');
    const { traceparent, tracestate } = asked[0] ?? {};
    assert.deepEqual({ traceparent, tracestate }, printTraceContext(ran.spanContext()), 'the agent continues its run');
    const traced = log.lines.filter(({ fields }) => fields.trace_id === TRACE).map(({ message }) => message);
    assert.ok(traced.includes('accepted'), JSON.stringify(log.lines));
  });

  it('records the host and status of an HTTP delivery, but not the rest of the URL', LIMIT, async (t) => {
    const exporter = registerSdk(t);
    const { url } = await startFakeHttp(t, ({ path }) => ({ status: path.startsWith('/hook-4711/no') ? 410 : 204 }));
    const gone = await startFakeHttp(t, () => ({ status: 204 }));
    await gone.close();
    for (const [base, outcome] of [
      [url, 'ok'],
      [`${url}/hook-4711/no`, 'permanent'],
      [gone.url, 'retry'],
    ] as const) {
      exporter.reset();
      const http = `  http: { enabled: true, url: "${base}/hook-4711", allow_http: true, allow_private: true }\n`;
      const { send } = await serve(t, CONFIG.replace('deliver: log', 'deliver: http') + http);
      await send('ci');
      const [sent] = await spansOf(exporter, ['send http']);
      const { port } = new URL(base);
      const { attributes } = sent ?? assert.fail();
      assert.equal(attributes['hookwright.outcome'], outcome);
      assert.equal(attributes['http.request.method'], 'POST');
      assert.equal(attributes['server.address'], '127.0.0.1');
      assert.equal(attributes['server.port'], Number(port));
      const [status, error] = { ok: [204, undefined], permanent: [410, '410'], retry: [undefined, 'ECONNREFUSED'] }[
        outcome
      ];
      assert.equal(attributes['http.response.status_code'], status);
      assert.equal(attributes['error.type'], error);
      assert.doesNotMatch(JSON.stringify(attributes), /4711/);
    }
  });

  it('has a span if it is ignored or its run fails, and none if its signature is invalid', LIMIT, async (t) => {
    const exporter = registerSdk(t);
    const { send } = await serve(t);
    assert.equal(
      (await send('broken', { 'x-webhook-signature': 'f'.repeat(64), 'x-hub-signature-256': '' })).status,
      401,
    );
    await send('broken');
    await send('picky');
    const [ran, received, dropped] = await spansOf(exporter, [
      'process broken',
      'POST /webhooks/broken',
      'POST /webhooks/picky',
    ]);
    assert.equal(ran?.status.code, 2);
    assert.equal(received?.status.code, 0);
    assert.equal(dropped?.attributes['hookwright.outcome'], 'ignored');
    assert.equal(dropped?.attributes['hookwright.reason'], 'event');
    const requests = exporter.getFinishedSpans().filter(({ name }) => name === 'POST /webhooks/broken');
    assert.equal(requests.length, 1, 'a stranger begins no span');
    assert.notEqual(received?.spanContext().traceId, dropped?.spanContext().traceId);
  });

  it('names the job, but not the time, of a run without an event', LIMIT, async (t) => {
    const exporter = registerSdk(t);
    const tracing = await openTracing();
    const agent = tracing?.agent({ run: async (_: AgentRequest) => 'done' });
    const of = { prompt: '', toolsets: [], skills: [], session: 'job:j@2026', profile: 'default', event: 'schedule' };
    const { signal } = new AbortController();
    await agent?.run({ ...of, route: '', job: 'j', delivery_id: 'j@2026', signal });
    const [ran] = await spansOf(exporter, ['process j']);
    assert.equal(ran?.attributes['messaging.destination.name'], 'j');
    assert.equal(ran?.attributes['messaging.operation.type'], 'process');
  });

  it('has the on_failure message in the trace of the failed event', LIMIT, async (t) => {
    const exporter = registerSdk(t);
    const { send } = await serve(t, `gateway: { max_attempts: 1 }\n${CONFIG}`);
    await send('broken', { traceparent: PARENT, tracestate: 'b=2' });
    const [told] = await spansOf(exporter, ['send local']);
    assert.equal(told?.spanContext().traceId, TRACE);
    assert.equal(told?.spanContext().traceState?.serialize(), 'b=2');
  });

  it('contains no payload, prompt, answer or secret', LIMIT, async (t) => {
    const exporter = registerSdk(t);
    const { send } = await serve(t);
    await send('ci', {}, '{"a":"canary-4711"}');
    await spansOf(exporter, ['send log']);
    const told = JSON.stringify(
      exporter.getFinishedSpans().map(({ name, attributes, status }) => [name, attributes, status]),
    );
    assert.doesNotMatch(told, /canary-4711|done|twenty-eight/);
  });
});

describe('a job with an SDK', () => {
  const JOBS = (url: string): string => `agent: { openai: { base_url: "${url}/v1", model: m } }
platforms: { webhook: { enabled: true, secret: ${SECRET} } }
jobs:
  run: { schedule: "0 8 1 1 *", prompt: Look, deliver: [log, local] }
  say: { schedule: "0 8 1 1 *", prompt: Hello, agent: none, deliver: [log, local] }
gateway: { console: { port: 0 } }
`;
  const answer = {
    status: 200,
    body: JSON.stringify({ choices: [{ message: { role: 'assistant', content: 'done' } }] }),
  };
  const started: Readonly<Record<string, (of: TestedConsole, job: string) => Promise<unknown>>> = {
    'the command line': async ({ gateway }, job) => assert.equal((await gateway.cli('job', 'run', job)).code, 0),
    'the console': ({ change }, job) => change<'runJob'>(`/api/jobs/${job}/run`),
  };
  for (const [by, start] of Object.entries(started))
    it(`has one trace for each run started by hand over ${by}`, LIMIT, async (t) => {
      const exporter = registerSdk(t);
      const { url } = await startFakeHttp(t, () => answer);
      const console = await startConsole(t, JOBS(url));
      const traces = new Set<string>();
      for (const [job, names] of [
        ['run', ['process run', 'send log', 'send local']],
        ['run', ['process run', 'send log', 'send local']],
        ['say', ['send log', 'send local']],
      ] as const) {
        exporter.reset();
        await start(console, job);
        const ids = new Set((await spansOf(exporter, names)).map((span) => span.spanContext().traceId));
        assert.equal(ids.size, 1, job);
        for (const id of ids) traces.add(id);
        await until(async () =>
          (await console.get<'listDeliveries'>('/api/deliveries')).items.every(({ state }) => state === 'done'),
        );
      }
      assert.equal(traces.size, 3, 'no two runs share one');
    });
});

describe('an event without an SDK', () => {
  it('has no trace, whatever context the sender passes', async (t) => {
    const { send, asked, log } = await serve(t);
    await send('ci', { traceparent: PARENT });
    await until(() => Promise.resolve(asked[0] !== undefined));
    assert.equal(asked[0]?.traceparent, undefined);
    assert.ok(log.lines.every(({ fields }) => fields.trace_id === undefined));
  });
});

describe('traceparent', () => {
  const cases: readonly (readonly [string, boolean])[] = [
    [PARENT, true],
    [`01-${TRACE}-00f067aa0ba902b7-01-more`, true],
    [`00-${TRACE}-00f067aa0ba902b7-01-more`, false],
    [`ff-${TRACE}-00f067aa0ba902b7-01`, false],
    [`00-${'0'.repeat(32)}-00f067aa0ba902b7-01`, false],
    [`00-${TRACE}-${'0'.repeat(16)}-01`, false],
    [PARENT.toUpperCase(), false],
    [` ${PARENT}`, false],
    ['', false],
  ];
  for (const [text, isOne] of cases)
    it(`${isOne ? 'accepts' : 'ignores'} ${JSON.stringify(text)}`, () =>
      assert.equal(parseTraceContext({ traceparent: text }, createTraceState) !== null, isOne));
});

describe('tracestate', () => {
  const members = (count: number): string => Array.from({ length: count }, (_, index) => `k${index}=v`).join(',');
  const cases: Readonly<Record<string, string | undefined>> = {
    'b=2,a@c=1': 'b=2,a@c=1',
    ' b=2 ,\t, a=1,': 'b=2,a=1',
    [members(32)]: members(32),
    [members(33)]: undefined,
    [`a=${'x'.repeat(256)}`]: `a=${'x'.repeat(256)}`,
    [`a=${'x'.repeat(257)}`]: undefined,
    [`a=${'x'.repeat(255)},b=${'x'.repeat(255)}`]: undefined,
    'a=1,a=2': undefined,
    'a=1,B=2': undefined,
    'a=1,b': undefined,
    'a=1,b=é': undefined,
    '': undefined,
  };
  for (const [tracestate, kept] of Object.entries(cases))
    it(`of ${tracestate.length} characters, ${JSON.stringify(tracestate.slice(0, 20))}, is ${kept ? 'kept' : 'dropped, not its trace'}`, () => {
      const context = parseTraceContext({ traceparent: PARENT, tracestate }, createTraceState);
      assert.deepEqual(context && printTraceContext(context), { traceparent: PARENT, tracestate: kept });
    });
});
