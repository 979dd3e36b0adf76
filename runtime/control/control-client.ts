/** Calls operations of a running gateway over its control socket, for the command line. */

import { createHash } from 'node:crypto';
import { request } from 'node:http';
import { join } from 'node:path';
import { ANSWERS } from '../../schemas/built/operations/answers.ts';
import type { CommandMutation, ControlContract, Refusal } from '../../schemas/built/operations/types.ts';
import type { Mutation, MutationResults, Store } from '../store/contract.ts';
import { StoreUnavailable } from '../store/contract.ts';
import { StoreDamaged } from '../store/decode.ts';
import type { Query, QueryKind, QueryResults } from '../store/queries.ts';
import type { LoadCheck } from './check-wire.ts';
import { findFault } from './check-wire.ts';
import { ControlError } from './control-error.ts';
import type { ControlName } from './operations.ts';
import { isOwnSocket, ownUid } from './socket-owner.ts';

/** No process listens on the socket: there is no running gateway. */
export class NotRunningError extends Error {
  override readonly name = 'NotRunningError';
}

/** The process that listens on the socket sent no usable answer; the message says why. */
export class ControlCallError extends Error {
  override readonly name = 'ControlCallError';
}

/** The answer has a form that this version does not know. */
export class UnknownAnswerError extends ControlCallError {}

/** The process that listens on the socket did not answer in time. */
export class NoAnswerError extends ControlCallError {}

const GONE = new Set(['ENOENT', 'ECONNREFUSED', 'ENOTSOCK']);

/** Maximum number of attempts of a call. */
const ATTEMPTS = 3;

/**
 * The connection was closed, or got 408, before the gateway received the whole request, as on a busy machine. Nothing was
 * executed.
 */
class Unsent extends ControlCallError {}

/** Maximum size of an answer, in bytes. */
const MAX_ANSWER = 64 * 1024 * 1024;

/** Maximum length of an error message shown, in UTF-16 units. */
const MAX_MESSAGE = 2000;

/**
 * Calls one operation and resolves to its result. Rejects with NotRunningError when no process listens, ControlError when
 * the gateway refuses or the socket belongs to another user, ControlCallError when the answer cannot be used, and
 * NoAnswerError when there is none within `timeoutMs`.
 */
export async function callControl<Name extends ControlName>(
  socket: string,
  name: Name,
  input: ControlContract[Name]['input'],
  timeoutMs: number,
  uid: number | null = ownUid(),
): Promise<ControlContract[Name]['output']> {
  if (!(await isOwnSocket(socket, uid))) throw new NotRunningError(`no server listens on ${socket}`);
  const { status, text } = await postWhole(socket, name, JSON.stringify(input), timeoutMs);
  const body = parse(text, status);
  if (status === 200) {
    await checkAnswer(name, body, name);
    return body as ControlContract[Name]['output'];
  }
  await checkAnswer('refusal', body, name);
  const { code, message } = body as Refusal;
  throw new ControlError(code, message.slice(0, MAX_MESSAGE));
}

function parse(text: string, status: number): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new ControlCallError(`no gateway listens on the control socket: its answer (${status}) is not JSON`);
  }
}

async function checkAnswer(shape: string, body: unknown, name: string): Promise<void> {
  const loads: Readonly<Record<string, LoadCheck>> = ANSWERS;
  const load = loads[shape];
  const fault = load === undefined ? null : await findFault(load, body, 'answer');
  if (fault === null) return;
  throw new UnknownAnswerError(`unexpected answer to ${name} (${fault}): is the running gateway another version?`);
}

async function postWhole(...call: Parameters<typeof post>): ReturnType<typeof post> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await post(...call);
    } catch (error) {
      if (!(error instanceof Unsent) || attempt === ATTEMPTS) throw error;
    }
  }
}

function post(
  socket: string,
  name: string,
  body: string,
  timeoutMs: number,
): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const call = request({ socketPath: socket, method: 'POST', path: `/${name}`, agent: false }, (response) => {
      const chunks: Buffer[] = [];
      let size = 0;
      response.on('data', (chunk: Buffer) => {
        size += chunk.length;
        chunks.push(chunk);
        if (size > MAX_ANSWER) call.destroy(new ControlCallError(`the answer is longer than ${MAX_ANSWER} bytes`));
      });
      response.once('end', () => {
        clearTimeout(timer);
        if (response.statusCode === 408) reject(new Unsent('the gateway is too busy to receive the request'));
        resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString('utf8') });
      });
      response.once('error', (error) => fail(error));
    });
    // The timeout covers the whole call; a slow response does not extend it.
    const timer = setTimeout(() => {
      call.destroy(new NoAnswerError(`the gateway did not answer within ${timeoutMs / 1000} s`));
    }, timeoutMs);
    const fail = (error: NodeJS.ErrnoException): void => {
      clearTimeout(timer);
      reject(explain(error, socket));
    };
    call.once('error', fail);
    // An upgrade to another protocol closes the connection without an answer.
    call.once('upgrade', (_response, stream) => {
      stream.destroy();
      fail(new ControlCallError('another program listens on the control socket: it uses another protocol'));
    });
    call.end(body);
  });
}

/** All codes except those of a missing listener mean that the response is not HTTP or is incomplete. */
function explain(error: NodeJS.ErrnoException, socket: string): Error {
  if (error instanceof ControlCallError) return error;
  if (GONE.has(error.code ?? '')) return new NotRunningError(`no server listens on ${socket}`);
  const message = `no answer from the control socket: ${error.code ?? error.message}`;
  return error.code === 'EPIPE' ? new Unsent(message) : new ControlCallError(message);
}

/** Maximum length of a Unix socket path on all systems, in bytes (macOS: 104 with the final zero). */
const LONGEST = 103;

/** Paths through which programs on this machine reach a running gateway. */
export interface ControlPaths {
  /** Folder of the files that exist only while a gateway runs; mode 0700. */
  readonly folder: string;
  readonly socket: string;
  /** Locked while a gateway serves this home. */
  readonly lock: string;
  /** Describes the process that holds the lock; used only in messages. */
  readonly info: string;
}

/** The paths of a home. If the home's path is too long for a socket, the socket is below `temporary`, named by a hash. */
export function controlPaths(home: string, temporary: string): ControlPaths {
  const folder = join(home, 'run');
  const near = join(folder, 'control.sock');
  const far = join(temporary, `hookwright-${createHash('sha256').update(home).digest('hex').slice(0, 16)}`, 'c.sock');
  return {
    folder,
    socket: Buffer.byteLength(near) <= LONGEST ? near : far,
    lock: join(folder, 'gateway.lock'),
    info: join(folder, 'gateway.json'),
  };
}

/*
 * The store of a running gateway, for commands. They use the control socket instead of opening the file, so that only the
 * server writes it. This file has both ends: the server's handlers, and a `Store` that calls them.
 */

/** Error code while the store is unavailable; a retry may succeed. */
const UNAVAILABLE = 'store_unavailable';

/** @param changed called after each change, because there may be new work */
export function createStoreHandlers(store: () => Store, changed: () => void) {
  return {
    store_read: (query: Query): Promise<QueryResults[QueryKind]> => refusing(() => store().read(query)),
    async store_write(mutation: CommandMutation): Promise<MutationResults[CommandMutation['kind']]> {
      const result = await refusing(() => store().write(mutation));
      changed();
      return result;
    },
  };
}

async function refusing<T>(ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof StoreUnavailable) throw new ControlError(UNAVAILABLE, error.message);
    if (error instanceof StoreDamaged) throw new ControlError('refused', error.message);
    throw error;
  }
}

/** Calls one store operation of the gateway. */
export type AskStore = <Name extends 'store_read' | 'store_write'>(
  name: Name,
  input: ControlContract[Name]['input'],
) => Promise<unknown>;

export function createRemoteStore(ask: AskStore): Store {
  return {
    read: <Q extends Query>(query: Q) => orUnavailable(ask('store_read', query) as Promise<QueryResults[Q['kind']]>),
    write: <M extends Mutation>(mutation: M) =>
      orUnavailable(ask('store_write', mutation as CommandMutation) as Promise<MutationResults[M['kind']]>),
    problem: () => null,
    shared: null,
    state: null,
    close: () => Promise.resolve(),
  };
}

async function orUnavailable<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof ControlError && error.code === UNAVAILABLE) throw new StoreUnavailable(error.message);
    throw error;
  }
}
