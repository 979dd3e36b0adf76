/** Asks a running gateway something over its control socket, for the command line. */
import { request } from 'node:http';
import { ControlError } from './control-error.ts';
import type { ControlContract, ControlName } from './operations.ts';

/** Nobody listens on the socket: there is no running gateway. */
export class NotRunningError extends Error {
  override readonly name = 'NotRunningError';
}

const GONE = new Set(['ENOENT', 'ECONNREFUSED', 'ENOTSOCK']);

/**
 * Calls one operation and answers its result.
 * @throws NotRunningError when nobody listens; ControlError when the gateway refuses, or does not answer in `timeoutMs`.
 */
export async function callControl<Name extends ControlName>(
  socket: string,
  name: Name,
  input: ControlContract[Name]['input'],
  timeoutMs: number,
): Promise<ControlContract[Name]['output']> {
  const { status, text } = await post(socket, name, JSON.stringify(input), timeoutMs);
  const body: unknown = JSON.parse(text);
  if (status === 200) return body as ControlContract[Name]['output'];
  const { code, message } = body as { readonly code: string; readonly message: string };
  throw new ControlError(code, message);
}

function post(
  socket: string,
  name: string,
  body: string,
  timeoutMs: number,
): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const call = request({ socketPath: socket, method: 'POST', path: `/${name}`, agent: false }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => {
        text += chunk;
      });
      response.once('end', () => resolve({ status: response.statusCode ?? 0, text }));
      response.once('error', reject);
    });
    call.setTimeout(timeoutMs, () =>
      call.destroy(new ControlError('timeout', `no answer within ${timeoutMs / 1000} s`)),
    );
    call.once('error', (error: NodeJS.ErrnoException) =>
      reject(GONE.has(error.code ?? '') ? new NotRunningError(`nobody listens on ${socket}`) : error),
    );
    call.end(body);
  });
}
