/** A real gateway on a free port of 127.0.0.1, over a temporary home and a dispatcher that only remembers. */
import { createHmac, randomBytes } from 'node:crypto';
import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { readRegularTextSync } from '../../base/read-regular-file.ts';
import { MODULES } from '../../main/modules.ts';
import { createGateway } from '../../runtime/gateway.ts';
import type { Gateway, GatewayOptions } from '../../runtime/gateway-options.ts';
import { catalogFile } from '../../runtime/intake/catalog-source.ts';
import type { Clock } from '../../runtime/platform/clock.ts';
import { systemClock } from '../../runtime/platform/clock.ts';
import { createIds } from '../../runtime/platform/ids.ts';
import { gatewayFiles } from '../../runtime/platform/node-files.ts';
import { runProcess } from '../../runtime/platform/process/run-process.ts';
import { createSecretResolver } from '../../runtime/platform/secrets/secret-resolver.ts';
import { tableFile } from '../../runtime/table/table-source.ts';
import { atEnd } from './at-end.ts';
import { FakeDispatcher } from './fake-dispatcher.ts';
import type { LogLine } from './log.ts';
import { recordLog } from './log.ts';
import type { TableParts } from './route-table.ts';
import { routeTable, SECRET } from './route-table.ts';
import { tempDir } from './temp-dir.ts';

export interface Served {
  readonly gateway: Gateway;
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

export type ServeOptions = Partial<Omit<GatewayOptions, 'dispatcher' | 'log' | 'modules'>> & {
  readonly clock?: Clock;
  /** Refuses events when the process is overloaded, as a gateway does. */
  readonly sheds?: boolean;
};

/** Everything but `load` and `listen`, for tests of what stands in their way. */
export function prepareGateway(
  t: Pick<TestContext, 'after'>,
  parts: TableParts,
  options: ServeOptions = {},
): Omit<Served, 'port' | 'url' | 'post'> {
  const home = options.home ?? tempDir(t);
  const table = join(home, 'build', 'routes.json');
  const writeTable = (next: TableParts): void => {
    mkdirSync(join(home, 'build'), { recursive: true });
    writeFileSync(`${table}.new`, routeTable(next).text);
    renameSync(`${table}.new`, table);
  };
  writeTable(parts);
  const dispatcher = new FakeDispatcher();
  const log = recordLog();
  const clock = options.clock ?? systemClock;
  const secretContext = { env: {}, home, userHome: home, readFile: readRegularTextSync };
  const files = options.files ?? gatewayFiles;
  const gateway = createGateway({
    modules: MODULES.flatMap(({ runtime }) => runtime ?? []),
    home,
    userHome: home,
    env: process.env,
    source: tableFile(table, files, clock),
    catalog: catalogFile(join(home, 'build', 'blueprints.json'), files, clock),
    dispatcher,
    drain: async () => ({ abandoned: 0 }),
    secrets: () => createSecretResolver(secretContext),
    lowerSubscriptions: () => ({ routes: [], rejected: [] }),
    run: (request) => runProcess(request, clock),
    files,
    ids: createIds(randomBytes),
    clock,
    log,
    // A busy machine must not make it refuse what a test sends.
    ...(options.sheds === true ? {} : { overload: { refuses: () => false } }),
    ...options,
  });
  atEnd(t, () => gateway.stop(0));
  return { gateway, dispatcher, log, home, writeTable };
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

/** Sends bytes as they are and answers everything that comes back until the connection closes. */
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
