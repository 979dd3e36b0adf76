/** The model of idempotency and coalescing with which stores are compared. */

export type Step =
  | { readonly kind: 'accept'; readonly id: string }
  | { readonly kind: 'join'; readonly id: string; readonly key: string }
  /** Delivered while the sender waits, or rejected by the target. */
  | { readonly kind: 'direct'; readonly id: string; readonly works: boolean }
  /** An operator sends its row again. */
  | { readonly kind: 'replay'; readonly id: string; readonly works: boolean }
  | { readonly kind: 'pass'; readonly seconds: number }
  /** All due runs run to their end. */
  | { readonly kind: 'work' }
  /** All groups are made due, and the store is closed and opened again. */
  | { readonly kind: 'stop' }
  /** Killed while all due work is running. */
  | { readonly kind: 'crash' };

export const LIMITS = { window_ms: 30_000, max_wait_ms: 50_000 };
export const TTL_MS = 120_000;

interface Group {
  readonly first: number;
  readonly due: number;
  readonly count: number;
  readonly id: string;
}

/** The specification as simple code: each step's result, as a text. */
export class Model {
  now = 0;
  private readonly claims = new Map<string, number>();
  /** The row of each direct delivery. */
  private readonly rows = new Map<string, { readonly dispatch: string; readonly isDone: boolean }>();
  private readonly groups = new Map<string, Group>();
  private waiting: string[] = [];

  step(step: Step, dispatch: string): string {
    switch (step.kind) {
      case 'accept':
        if (!this.claim(step.id)) return 'duplicate';
        this.waiting.push(`${dispatch} 0`);
        return 'stored';
      case 'direct':
        if (this.isClaimed(step.id)) return 'duplicate';
        return this.send(step, this.rows.get(step.id)?.isDone === false ? this.rows.get(step.id)?.dispatch : dispatch);
      case 'replay':
        return this.rows.get(step.id)?.isDone === false ? this.send(step, this.rows.get(step.id)?.dispatch) : 'nothing';
      case 'join': {
        if (!this.claim(step.id)) return 'duplicate';
        const { first, count } = this.groups.get(step.key) ?? { first: this.now, count: 0 };
        const due = Math.min(this.now + LIMITS.window_ms, first + LIMITS.max_wait_ms);
        this.groups.set(step.key, { first, due, count: count + 1, id: dispatch });
        return `stored ${count} ${due}`;
      }
      case 'pass':
        this.now += step.seconds * 1000;
        return '';
      case 'work':
        return this.work();
      case 'stop':
        for (const [key, group] of this.groups) this.groups.set(key, { ...group, due: this.now });
        return '';
      case 'crash':
        this.close();
        return '';
    }
  }

  private send({ id, works }: Extract<Step, { works: boolean }>, dispatch = ''): string {
    this.rows.set(id, { dispatch, isDone: works });
    if (works) this.claims.set(id, this.now + TTL_MS);
    return `${works ? 'delivered' : 'failed'} ${dispatch}`;
  }

  private work(): string {
    this.close();
    const ran = this.waiting.sort().join();
    this.waiting = [];
    return ran;
  }

  /** Groups that are due are closed: their latest events wait alone. */
  private close(): void {
    for (const [key, { due, id, count }] of this.groups) {
      if (due > this.now) continue;
      this.groups.delete(key);
      this.waiting.push(`${id} ${count - 1}`);
    }
  }

  private isClaimed(id: string): boolean {
    return (this.claims.get(id) ?? this.now) > this.now;
  }

  private claim(id: string): boolean {
    if (this.isClaimed(id)) return false;
    this.claims.set(id, this.now + TTL_MS);
    return true;
  }
}
