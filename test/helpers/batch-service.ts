/** A service whose route gets batches: real stages, dispatcher and store, and an agent that records its prompts. */
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { stringify } from 'yaml';
import { runtimeParts } from '../../cli/base/module.ts';
import { MODULES } from '../../main/modules.ts';
import type { RunAgent } from '../../runtime/dispatch/agent-runner.ts';
import type { Service, ServiceOptions } from '../../runtime/service/options.ts';
import { createService } from '../../runtime/service/service.ts';
import type { RouteTable } from '../../schemas/generated/types.ts';
import type { Ending } from './at-end.ts';
import { atEnd } from './at-end.ts';
import { compileConfig, printed } from './compile.ts';
import type { LogLine } from './log.ts';
import { recordLog } from './log.ts';
import { tempDir } from './temp-dir.ts';

const TOKEN = '8f1d2b7e9c4a6053f7e1b2c3d4a59687';

/** A sender of batches. `X-Batch` is the id of a request. */
export const FEED = {
  verify: 'token',
  signature: { header: 'X-Token' },
  each: 'events[]',
  event: { json: 'type' },
  delivery: [{ json: 'id' }, { header: 'X-Batch' }],
};

export interface BatchAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly body: Readonly<Record<string, unknown>> & { readonly events?: readonly Readonly<Record<string, unknown>>[] };
}

export interface BatchService {
  readonly service: Service;
  readonly home: string;
  readonly url: string;
  /** Prompts of the agent's runs, in order. */
  readonly prompts: string[];
  readonly lines: readonly LogLine[];
  readonly post: (body: unknown, headers?: Readonly<Record<string, string>>, route?: string) => Promise<BatchAnswer>;
}

export interface BatchSetting {
  readonly source?: object;
  readonly route?: object;
  /** Further routes with the same source. */
  readonly routes?: Readonly<Record<string, object>>;
  readonly webhook?: object;
  readonly config?: object;
  readonly home?: string;
  readonly agent?: RunAgent;
  readonly options?: Partial<ServiceOptions>;
}

export async function startBatchService(t: Ending, setting: BatchSetting = {}): Promise<BatchService> {
  const { home = tempDir(t), agent, options } = setting;
  const prompts: string[] = [];
  const base = { source: 'feed', rate_limit: 1000, prompt: '{type} {id}' };
  const routes = {
    feed: { ...base, ...setting.route },
    ...Object.fromEntries(Object.entries(setting.routes ?? {}).map(([name, route]) => [name, { ...base, ...route }])),
  };
  const webhook = { enabled: true, port: 0, secret: 'env:WEBHOOK_SECRET', ...setting.webhook, routes };
  const { platforms = {}, ...others } = { platforms: {}, ...setting.config };
  const sources = { feed: { ...FEED, ...setting.source } };
  const env = { HOME: '/home/user', WEBHOOK_SECRET: TOKEN };
  const compiled = compileConfig(stringify({ sources, platforms: { webhook, ...platforms }, ...others }), { env });
  assert.ok(compiled.output, printed(compiled));
  const table = JSON.parse(compiled.output.routesJson) as RouteTable;
  const log = recordLog();
  const record: RunAgent = async ({ prompt }) => {
    prompts.push(prompt);
    return '[SILENT]';
  };
  const given = { table, home, log, agent: agent ?? record, env, store: ':memory:' as const, ...options };
  const service = await createService(given, runtimeParts(MODULES));
  atEnd(t, () => service.stop({ drainMs: 0 }));
  const { url } = await service.listen();
  const post: BatchService['post'] = async (body, headers = {}, route = 'feed') => {
    const response = await fetch(`${url}/webhooks/${route}`, {
      method: 'POST',
      body: typeof body === 'string' ? body : JSON.stringify(body),
      headers: { 'content-type': 'application/json', 'x-token': TOKEN, ...headers },
    });
    const text = await response.text();
    return {
      status: response.status,
      headers: response.headers,
      text,
      body: text.startsWith('{') ? JSON.parse(text) : {},
    };
  };
  return { service, home, url, prompts, lines: log.lines, post };
}

/** `[delivery id, status]` of each event of an answer. */
export const statusesOf = ({ body }: BatchAnswer): readonly (readonly unknown[])[] =>
  (body.events ?? []).map(({ delivery_id, status }) => [delivery_id, status]);

/** A target over HTTP. @param statusOf the status of its response to a message */
export async function httpTarget(t: Ending, statusOf: (message: { readonly text: string }) => number) {
  const sent: string[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => {
      body += chunk.toString();
    });
    request.on('end', () => {
      const { text } = JSON.parse(body) as { readonly text: string };
      sent.push(text);
      response.writeHead(statusOf({ text })).end('{}');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  atEnd(t, () => void server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/in`, sent };
}
