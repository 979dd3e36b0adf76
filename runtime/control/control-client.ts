/** Calls operations of a running gateway over its control socket, for the command line. */
import { request } from 'node:http';
import { ANSWERS } from '../../schemas/built/operations/answers.ts';
import type { ControlContract, Refusal } from '../../schemas/built/operations/types.ts';
import type { LoadCheck } from './check-wire.ts';
import { findFault } from './check-wire.ts';
import { ControlError } from './control-error.ts';
import type { ControlName } from './operations.ts';
import { isOwnSocket, ownUid } from './socket-owner.ts';

/** No process listens on the socket: there is no running gateway. */
export class NotRunningError extends Error {
  override readonly name = 'NotRunningError';
}

/** The process that listens on the socket gave no usable answer; the message says why. */
export class ControlCallError extends Error {
  override readonly name = 'ControlCallError';
}

/** A gateway answered in a form that this version does not know. */
export class UnknownAnswerError extends ControlCallError {}

/** The process that listens on the socket did not answer in time. */
export class NoAnswerError extends ControlCallError {}

const GONE = new Set(['ENOENT', 'ECONNREFUSED', 'ENOTSOCK']);

/** How often a call is begun. */
const ATTEMPTS = 3;

/**
 * The connection was closed, or 408 came, before the request had arrived: the gateway has no patience with one that is late, as
 * on a busy machine. Nothing was carried out.
 */
class Unsent extends ControlCallError {}

/** Largest answer that is read, in bytes. */
const MAX_ANSWER = 64 * 1024 * 1024;

/** Longest refusal that is shown, in UTF-16 units. */
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
    throw new ControlCallError(`what listens on the control socket is no gateway: its answer (${status}) is not JSON`);
  }
}

async function checkAnswer(shape: string, body: unknown, name: string): Promise<void> {
  const loads: Readonly<Record<string, LoadCheck>> = ANSWERS;
  const load = loads[shape];
  const fault = load === undefined ? null : await findFault(load, body, 'answer');
  if (fault === null) return;
  throw new UnknownAnswerError(
    `the answer to ${name} is not as expected (${fault}): is the running gateway of another version?`,
  );
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
        if (response.statusCode === 408) reject(new Unsent('the gateway is too busy to read the request'));
        resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString('utf8') });
      });
      response.once('error', (error) => fail(error));
    });
    // The timeout covers the whole call; a slow response does not extend it.
    const timer = setTimeout(() => {
      call.destroy(new NoAnswerError(`the gateway gave no answer within ${timeoutMs / 1000} s`));
    }, timeoutMs);
    const fail = (error: NodeJS.ErrnoException): void => {
      clearTimeout(timer);
      reject(explain(error, socket));
    };
    call.once('error', fail);
    // An upgrade to another protocol closes the connection without an answer.
    call.once('upgrade', (_response, stream) => {
      stream.destroy();
      fail(new ControlCallError('what listens on the control socket is no gateway: it offers another protocol'));
    });
    call.end(body);
  });
}

/** Codes other than those of a missing listener mean a response that is not HTTP, or incomplete. */
function explain(error: NodeJS.ErrnoException, socket: string): Error {
  if (error instanceof ControlCallError) return error;
  if (GONE.has(error.code ?? '')) return new NotRunningError(`no server listens on ${socket}`);
  const message = `no answer from the control socket: ${error.code ?? error.message}`;
  return error.code === 'EPIPE' ? new Unsent(message) : new ControlCallError(message);
}
