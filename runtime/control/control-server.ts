/**
 * The control socket of a running gateway: HTTP over a Unix socket that only its owner can open.
 * `POST /<operation>` takes and returns JSON; `GET /metrics` returns Prometheus text, for a scraper on the same machine.
 * An error is `{"code", "message"}` with status 400. An internal error has the same shape with 500; its text is only in the
 * log. The limits are those of the public server.
 */

import { chmodSync, lstatSync, mkdirSync, rmSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { dirname } from 'node:path';
import { messageOf } from '../../base/errors.ts';
import { writeJson } from '../../base/exact-number.ts';
import { INPUTS } from '../../schemas/built/operations/inputs.ts';
import { BoundedServer, Connections, LOCAL_LIMITS } from '../intake/server.ts';
import type { IntakeRequest } from '../intake/unverified-bodies.ts';
import type { Logger } from '../platform/log.ts';
import type { LoadCheck } from './check-wire.ts';
import { findFault } from './check-wire.ts';
import { ControlError } from './control-error.ts';
import type { ControlHandlers } from './operations.ts';
import { foreignFolder, ownUid } from './socket-owner.ts';

export interface ControlServer {
  /** Stops listening and removes the socket; resolves when current requests are answered. */
  close(): Promise<void>;
}

/** Maximum size of a request, in bytes; a replay sends a whole dispatch. */
const MAX_BODY = 64 * 1024 * 1024;

/** Maximum number of connections. A connection that has not sent its request is closed in favor of a new one. */
const MAX_CONNECTIONS = 256;

type Handler = (input: never) => unknown;

/**
 * Listens on `socket`. The caller holds the home's lock, so a file at that path is left over and is replaced.
 * Rejects with ControlError when the socket's folder belongs to another user.
 */
export async function serveControl(socket: string, handlers: ControlHandlers, log: Logger): Promise<ControlServer> {
  openFolder(dirname(socket));
  rmSync(socket, { force: true });
  const table = new Map<string, Handler>(Object.entries(handlers) as [string, Handler][]);
  const connections = new Connections();
  connections.configure({ maxConnections: MAX_CONNECTIONS, maxPerAddress: MAX_CONNECTIONS, trustedProxies: [] });
  const serve = (request: IntakeRequest, response: ServerResponse): void => {
    connections.begin(request);
    if (request.awaitsContinue) response.writeContinue();
    answer(request, table, connections).then(
      ({ type, text }) => send(response, 200, type, text),
      (error: unknown) => {
        if (error instanceof ControlError) return refuse(response, 400, error);
        // The client disconnected in the middle of its request.
        if (!request.complete) return;
        log.error({ operation: request.url, err: messageOf(error) }, 'control operation failed');
        refuse(response, 500, FAILED);
      },
    );
  };
  const server = new BoundedServer(serve, LOCAL_LIMITS, connections);
  await server.listenLocally(socket);
  chmodSync(socket, 0o600);
  return { close: () => server.close() };
}

const FAILED = { code: 'failed', message: 'internal error: see the log of the gateway' };

const JSON_TYPE = 'application/json';

async function answer(
  request: IntakeRequest,
  handlers: ReadonlyMap<string, Handler>,
  connections: Connections,
): Promise<{ type: string; text: string }> {
  const { name, named } = operationOf(request.url ?? '');
  const handler = handlers.get(name);
  if (handler === undefined)
    throw new ControlError('unknown_operation', `the running gateway has no operation "${name}"`);
  const input = { ...(await readInput(request)), ...named };
  connections.verify(request);
  await checkInput(name, input);
  const result = await handler(input as never);
  if (name === 'metrics' && request.method === 'GET') {
    const { content_type, text } = result as { readonly content_type: string; readonly text: string };
    return { type: content_type, text };
  }
  return { type: JSON_TYPE, text: writeJson(result ?? null) };
}

/** @throws ControlError that names the first member that is missing, unknown or of a wrong type */
async function checkInput(name: string, input: unknown): Promise<void> {
  const loads: Readonly<Record<string, LoadCheck>> = INPUTS;
  const load = loads[name];
  const fault = load === undefined ? null : await findFault(load, input, 'request');
  if (fault !== null) throw new ControlError('malformed', `${fault} is missing or not valid for ${name}`);
}

interface Operation {
  readonly name: string;
  /** Input fields that are part of the path. */
  readonly named: Readonly<Record<string, string>>;
}

/** The path names the operation. Blueprints have their own paths. */
function operationOf(url: string): Operation {
  const key = /^\/blueprints\/([a-z0-9-]+)\/jobs$/.exec(url)?.[1];
  return key === undefined ? { name: url.slice(1), named: {} } : { name: 'create_blueprint_job', named: { key } };
}

async function readInput(request: IntakeRequest): Promise<object> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_BODY) throw new ControlError('too_large', `a control request may have at most ${MAX_BODY} bytes`);
    chunks.push(chunk);
  }
  if (size === 0) return {};
  try {
    const input: unknown = JSON.parse(Buffer.concat(chunks).toString('utf8'));
    if (typeof input === 'object' && input !== null && !Array.isArray(input)) return input;
  } catch {
    // Rejected below, like any other input that is not an object.
  }
  throw new ControlError('malformed', 'a control request must be a JSON object');
}

function refuse(response: ServerResponse, status: number, { code, message }: typeof FAILED): void {
  send(response, status, JSON_TYPE, JSON.stringify({ code, message }));
}

function send(response: ServerResponse, status: number, type: string, text: string): void {
  response.writeHead(status, { 'content-type': type, connection: 'close' });
  response.end(text);
}

/** Creates the folder with mode 0700, which protects the socket before its own mode is set. */
function openFolder(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const problem = foreignFolder(folder, lstatSync(folder), ownUid(), false);
  if (problem !== null) throw new ControlError('foreign_folder', `${problem}: remove it, or set TMPDIR`);
  chmodSync(folder, 0o700);
}
