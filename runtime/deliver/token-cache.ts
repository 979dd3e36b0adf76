/** Keeps exchanged tokens until shortly before they expire, with at most one exchange at a time per credentials. */
import type { Clock } from '../platform/clock.ts';

/** A token, or why there is none; then nothing was sent to the target. */
export type TokenResult =
  | {
      readonly kind: 'token';
      readonly token: string /** How long it can be used, in ms. */;
      readonly usable_ms: number;
    }
  | {
      readonly kind: 'permanent' | 'retry';
      readonly reason: string;
      readonly retry_after_ms: number | null;
      /** What the token was asked for is not there any more. */
      readonly gone?: true;
    };

export class TokenCache {
  private readonly clock: Clock;
  private readonly kept = new Map<string, { readonly token: string; readonly until: number }>();
  private readonly underWay = new Map<string, Promise<TokenResult>>();

  constructor(clock: Clock) {
    this.clock = clock;
  }

  /** The cached token, or a new one. @param key identifies the credentials and their server */
  get(key: string, exchange: () => Promise<TokenResult>): Promise<TokenResult> {
    const kept = this.kept.get(key);
    const left = kept === undefined ? 0 : kept.until - this.clock.monotonic();
    if (kept !== undefined && left > 0) {
      return Promise.resolve({ kind: 'token', token: kept.token, usable_ms: left });
    }
    return this.underWay.get(key) ?? this.exchange(key, exchange);
  }

  /** Drops a refused token, but not a newer one that another delivery has fetched meanwhile. */
  drop(token: string): void {
    for (const [key, kept] of this.kept) if (kept.token === token) this.kept.delete(key);
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
