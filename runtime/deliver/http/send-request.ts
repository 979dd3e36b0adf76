/**
 * Makes one HTTP request over undici. When it fails, the result says whether anything can have reached the target.
 *
 * Nothing is sent until undici hands the request to a socket (`onRequestStart`): refused connections, DNS and TLS
 * failures come before that. After it, only a complete response is certain. Redirects are never followed, because they
 * could take the credentials elsewhere.
 */

import type { Dispatcher } from 'undici';
import { Collected } from '../../../base/collected.ts';
import { codeOf } from '../../../base/errors.ts';
import type { Clock, Timer } from '../../platform/clock.ts';
import type { HttpConnections } from '../http-pool.ts';
import type { RawResponse } from './classify-response.ts';
import type { HttpRequest } from './link-request.ts';

interface SendOptions {
  readonly max_response_bytes: number;
  /** Timeout of the whole exchange. */
  readonly timeout_ms: number;
  readonly signal: AbortSignal;
}

type SendResult =
  | ({ readonly kind: 'response' } & RawResponse)
  /** `code` is the system's or undici's error code; their messages may quote the URL. */
  | { readonly kind: 'failed'; readonly sent: boolean; readonly code: string };

export interface SendContext {
  readonly http: HttpConnections;
  readonly clock: Clock;
}

/** Makes the request. Never rejects. */
export async function sendRequest(
  request: HttpRequest,
  options: SendOptions,
  { http, clock }: SendContext,
): Promise<SendResult> {
  const dispatcher = await http.open();
  if (options.signal.aborted) return { kind: 'failed', sent: false, code: 'ABORTED' };
  return new Promise((resolve) => new Exchange(options, clock, resolve).start(request, dispatcher));
}

/** Maximum number of 1xx responses: each may have as many headers as the final one. */
const MOST_PRECEDING = 8;

/** One request, from start to result. */
class Exchange implements Dispatcher.DispatchHandler {
  private controller: Dispatcher.DispatchController | null = null;
  private status = 0;
  private headers: RawResponse['headers'] = {};
  private readonly body = new Collected();
  private isCut = false;
  private preceding = 0;
  private settled = false;
  private readonly cap: number;
  private readonly signal: AbortSignal;
  private readonly resolve: (result: SendResult) => void;
  private readonly timer: Timer;
  private readonly onAbort = (): void => this.fail('ABORTED');

  constructor(options: SendOptions, clock: Clock, resolve: (result: SendResult) => void) {
    this.cap = options.max_response_bytes;
    this.signal = options.signal;
    this.resolve = resolve;
    this.timer = clock.after(options.timeout_ms, () => this.fail('TIMEOUT'));
    this.signal.addEventListener('abort', this.onAbort, { once: true });
  }

  start(request: HttpRequest, dispatcher: Dispatcher): void {
    const { origin, path, method, headers, body } = request;
    try {
      // The timeout covers the whole exchange, so undici's own timers are off.
      dispatcher.dispatch({ origin, path, method, headers, body, headersTimeout: 0, bodyTimeout: 0 }, this);
    } catch (error) {
      this.fail(codeOf(error) ?? 'UNKNOWN');
    }
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    // The request was aborted while it waited for a socket, and must not be sent.
    if (this.settled) controller.abort(new Error('aborted'));
    else this.controller = controller;
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number, headers: RawResponse['headers']): void {
    // 1xx responses precede the final one.
    if (status < 200) {
      if (++this.preceding > MOST_PRECEDING) this.fail('UND_ERR_HEADERS_OVERFLOW');
      return;
    }
    this.status = status;
    this.headers = headers;
  }

  onResponseData(_: Dispatcher.DispatchController, chunk: Buffer): void {
    const room = this.cap - this.body.size;
    this.isCut = chunk.length > room;
    this.body.add(chunk.subarray(0, room));
    if (this.isCut) this.finish();
  }

  onResponseEnd(): void {
    this.finish();
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    this.fail(codeOf(error) ?? 'UNKNOWN');
  }

  private finish(): void {
    this.settle({ kind: 'response', status: this.status, headers: this.headers, body: this.body.whole() });
  }

  private fail(code: string): void {
    this.settle({ kind: 'failed', sent: this.controller !== null, code });
  }

  private settle(result: SendResult): void {
    if (this.settled) return;
    this.settled = true;
    this.timer.cancel();
    this.signal.removeEventListener('abort', this.onAbort);
    if (result.kind === 'failed' || this.isCut) this.controller?.abort(new Error('aborted'));
    this.resolve(result);
  }
}
