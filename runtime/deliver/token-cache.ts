/** Keeps exchanged tokens until shortly before they end; one exchange at a time per credentials, however many wait for it. */
import type { Clock } from '../platform/clock.ts';

/** A token, or why there is none (nothing was sent to the target then). */
export type TokenResult =
  | { readonly kind: 'token'; readonly token: string /** For how long it may be used. */; readonly usable_ms: number }
  | {
      readonly kind: 'permanent' | 'retry';
      readonly reason: string;
      readonly retry_after_ms: number | null;
    };

export class TokenCache {
  private readonly clock: Clock;
  private readonly kept = new Map<string, { readonly token: string; readonly until: number }>();
  private readonly underWay = new Map<string, Promise<TokenResult>>();

  constructor(clock: Clock) {
    this.clock = clock;
  }

  /** The kept token, or a new one. `key` names the credentials and the server they are for. */
  get(key: string, exchange: () => Promise<TokenResult>): Promise<TokenResult> {
    const kept = this.kept.get(key);
    const left = kept === undefined ? 0 : kept.until - this.clock.monotonic();
    if (kept !== undefined && left > 0) {
      return Promise.resolve({ kind: 'token', token: kept.token, usable_ms: left });
    }
    const running = this.underWay.get(key) ?? this.exchange(key, exchange);
    return running;
  }

  /** Forgets a refused token; a newer one that another delivery fetched meanwhile stays. */
  drop(key: string, token: string): void {
    if (this.kept.get(key)?.token === token) this.kept.delete(key);
  }

  private exchange(key: string, exchange: () => Promise<TokenResult>): Promise<TokenResult> {
    const running = exchange()
      .then((result) => {
        if (result.kind === 'token') {
          this.kept.set(key, { token: result.token, until: this.clock.monotonic() + result.usable_ms });
        }
        return result;
      })
      .finally(() => this.underWay.delete(key));
    this.underWay.set(key, running);
    return running;
  }
}
