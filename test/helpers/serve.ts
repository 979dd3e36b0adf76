/** A real gateway on a free port of 127.0.0.1, over a temporary home and a dispatcher that only remembers. */
import { createHmac } from 'node:crypto';
import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { readRegularTextSync } from '../../base/files.ts';
import { MODULES } from '../../main/modules.ts';
import { NO_METRICS } from '../../runtime/metrics/metrics.ts';
import type { Clock } from '../../runtime/platform/clock.ts';
import { SharedClock, systemClock } from '../../runtime/platform/clock.ts';
import { gatewayFiles } from '../../runtime/platform/files.ts';
import { createSecretResolver } from '../../runtime/platform/secrets.ts';
import type { ServiceContext } from '../../runtime/service/context.ts';
import { resolveOptions } from '../../runtime/service/context.ts';
import type { Backend, GatewayLimits } from '../../runtime/service/gateway.ts';
import { Gateway } from '../../runtime/service/gateway.ts';
import { Routes } from '../../runtime/service/routes.ts';
import { EXAMPLE_INSTALLATION } from '../../runtime/table/link-loop.ts';
import { tableFile } from '../../runtime/table/table-source.ts';
import { atEnd } from './at-end.ts';
import { FakeDispatcher } from './fake-dispatcher.ts';
import type { LogLine } from './log.ts';
import { recordLog } from './log.ts';
import type { TableParts } from './route-table.ts';
import { routeTable, SECRET } from './route-table.ts';
import { tempDir } from './temp-dir.ts';

export interface Served {
  readonly gateway: Gateway & Pick<Routes, 'status'> & { load(): Promise<void>; reload(): Promise<boolean> };
  readonly dispatcher: FakeDispatcher;
  readonly log: { readonly lines: LogLine[] };
  readonly home: string;
  readonly port: number;
  readonly url: string;
  /** Writes another table as the compiler does: beside the old one, then renamed. */
  readonly writeTable: (parts: TableParts) => void;
  /** POSTs a signed JSON body (text or value) to a path. */
  readonly post: (path: string, body: unknown, headers?: Record<string, string>) => Promise<Answer>;
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Record<string, unknown>;
}

export interface ServeOptions
  extends Partial<
      Pick<ServiceContext, 'home' | 'host' | 'port' | 'files' | 'lowerSubscriptions' | 'run' | 'secrets' | 'enrolments'>
    >,
    Partial<Pick<Backend, 'prepare' | 'keeping'>> {
  readonly clock?: Clock;
  readonly onTableLoad?: (ok: boolean) => void;
  /** The work that the gateway flushes when it stops. */
  readonly drain?: Backend['stop'];
  readonly limits?: GatewayLimits;
  /** Rejects events when the process is overloaded, as a gateway does. */
  readonly sheds?: boolean;
}

/** Everything but `load` and `listen`, for tests of failing starts. */
export function prepareGateway(
  t: Pick<TestContext, 'after'>,
  parts: TableParts,
  options: ServeOptions = {},
): Omit<Served, 'port' | 'url' | 'post'> {
  const { home = tempDir(t), files = gatewayFiles, clock = systemClock, limits = {} } = options;
  const { drain, prepare, keeping, onTableLoad, sheds = false, ...overrides } = options;
  const file = join(home, 'build', 'routes.json');
  const writeTable = (next: TableParts): void => {
    mkdirSync(join(home, 'build'), { recursive: true });
    writeFileSync(`${file}.new`, routeTable(next).text);
    renameSync(`${file}.new`, file);
  };
  writeTable(parts);
  const dispatcher = new FakeDispatcher();
  const log = recordLog();
  const modules = MODULES.flatMap(({ runtime }) => runtime ?? []);
  const context: ServiceContext = {
    ...resolveOptions({ table: { file }, home, log, clock }, modules),
    source: tableFile(file, files, clock),
    secrets: async () => createSecretResolver({ env: {}, home, userHome: home, readFile: readRegularTextSync }),
    ...overrides,
    ...(onTableLoad === undefined ? {} : { metrics: { ...NO_METRICS, onTableLoad } }),
    clock: new SharedClock(clock),
  };
  const routes = new Routes(context);
  const backend: Backend = {
    dispatcher,
    store: { shared: null },
    jobs: () => [],
    installation: async () => EXAMPLE_INSTALLATION,
    isPending: () => false,
    tracing: null,
    keeping: keeping ?? { keep: () => null, keepMiss: () => {} },
    place: () => null,
    subscribed: async () => {},
    prepare: prepare ?? (async () => () => {}),
    stop: drain ?? (async () => ({ abandoned: 0 })),
  };
  // A busy machine must not make it reject the requests of a test.
  const gateway = new Gateway(context, routes, backend, {
    ...(sheds ? {} : { overload: { refuses: () => false, verify: () => {} } }),
    ...limits,
  });
  atEnd(t, () => gateway.stop(0));
  const load = async (): Promise<void> => {
    const apply = await backend.prepare(await routes.tables.loadFirst());
    apply();
    await gateway.begin();
  };
  const reload = (): Promise<boolean> => routes.tables.reload();
  return {
    gateway: Object.assign(gateway, { load, reload, status: () => routes.status() }),
    dispatcher,
    log,
    home,
    writeTable,
  };
}

/** A gateway that serves. */
export async function serve(t: TestContext, parts: TableParts, options: ServeOptions = {}): Promise<Served> {
  const prepared = prepareGateway(t, parts, options);
  await prepared.gateway.load();
  const { port, url } = await prepared.gateway.listen();
  const post: Served['post'] = async (path, body, headers = {}) => {
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    return answerOf(await fetch(url + path, { method: 'POST', body: text, headers: { ...signed(text), ...headers } }));
  };
  return { ...prepared, port, url, post };
}

/** Headers that sign a body with `SECRET` as code host A does. */
export function signed(body: string | Buffer, secret = SECRET): Record<string, string> {
  return {
    'content-type': 'application/json',
    'x-hub-signature-256': `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`,
  };
}

export async function answerOf(response: Response): Promise<Answer> {
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: text === '' ? {} : JSON.parse(text) };
}

/** Sends bytes unchanged and returns everything that arrives until the connection closes. */
export function sendRaw(port: number, pieces: readonly (string | Buffer)[], endAfter = false): Promise<string> {
  return new Promise((resolve) => {
    let text = '';
    const socket = connect(port, '127.0.0.1', () => {
      for (const piece of pieces) socket.write(piece);
      if (endAfter) socket.end();
    });
    socket.setEncoding('latin1');
    socket.on('data', (chunk: string) => {
      text += chunk;
    });
    socket.on('error', () => {});
    socket.on('close', () => resolve(text));
  });
}
