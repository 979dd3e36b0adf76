/** Calls the API of the console by operation id, and notifies a listener when the page is signed out. */
import { OPERATIONS } from '../runtime/api/built/operations.ts';
import type { Api } from '../runtime/api/generated/api.ts';

export type Id = keyof Api;
export type Input<I extends Id> = Api[I]['input'];
export type Output<I extends Id> = Api[I]['output'];

/** An error response of the API; its message is for people. */
export class CallError extends Error {
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

let onSignedOut = (): void => {};
export function whenSignedOut(listener: () => void): void {
  onSignedOut = listener;
}

/** @throws CallError */
export async function call<I extends Id>(id: I, input: Input<I>): Promise<Output<I>> {
  const { method, path } = OPERATIONS[id];
  const rest: Record<string, unknown> = { ...input };
  const filled = path.replace(/\{(\w+)\}/g, (_all, name: string) => {
    const value = String(rest[name]);
    delete rest[name];
    return encodeURIComponent(value);
  });
  if (method !== 'GET') return (await send(method, filled, rest)) as Output<I>;
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(rest)) if (value !== undefined) query.set(name, String(value));
  return (await send('GET', query.size === 0 ? filled : `${filled}?${query}`)) as Output<I>;
}

/** Exchanges the token for a cookie. @throws CallError */
export async function login(token: string): Promise<void> {
  await send('POST', '/login', { token });
}

/** Ends the login. The page then asks for the token, even if copies of the cookie are still valid. @throws CallError */
export const logout = (): Promise<unknown> =>
  send('POST', '/logout').finally(() => call('getSession', {}).catch(() => {}));

async function send(method: string, path: string, body?: unknown): Promise<unknown> {
  // Relative to the document, which may be below a path of another site.
  const response = await fetch(path.slice(1), {
    method,
    ...(body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
  }).catch(() => {
    throw new CallError(0, 'no_answer', 'the gateway does not respond');
  });
  const answer = (await response.json().catch(() => ({}))) as { readonly error?: string; readonly code?: string };
  if (response.ok) return answer;
  if (response.status === 401 && path !== '/login') onSignedOut();
  const { status } = response;
  throw new CallError(status, answer.code ?? '', answer.error ?? `the gateway responded with ${status}`);
}
