/** Why the store cannot write, and since when. The beginning and the end of a problem are logged. */
import type { Logger } from '../platform/log.ts';
import type { StoreProblem } from './store.ts';

export class Health {
  private readonly log: Logger;
  private readonly now: () => number;
  private current: StoreProblem | null = null;

  /** @param now returns Unix ms */
  constructor(log: Logger, now: () => number) {
    this.log = log;
    this.now = now;
  }

  get problem(): StoreProblem | null {
    return this.current;
  }

  begin(kind: StoreProblem['kind'], message: string): void {
    if (this.current !== null && (this.current.kind === kind || kind !== 'replaced')) return;
    this.current = { kind, message, since: this.now() };
    this.log.error({ reason: message }, 'the store accepts no changes');
  }

  end(kind: StoreProblem['kind']): void {
    if (this.current?.kind !== kind) return;
    this.log.info({ after_ms: this.now() - this.current.since }, 'the store accepts changes again');
    this.current = null;
  }
}
