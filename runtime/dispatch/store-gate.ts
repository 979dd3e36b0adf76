/** Refuses events while the store takes nothing, and logs when that begins and ends: once, not for each event. */
import type { Logger } from '../log.ts';
import { StoreUnavailable } from '../store/store.ts';
import type { Refusal } from './dispatcher.ts';

const STORE_DOWN: Refusal = { kind: 'overloaded', retry_after_seconds: 10 };

export class StoreGate {
  private isDown = false;
  private readonly log: Logger;

  constructor(log: Logger) {
    this.log = log;
  }

  /** @throws what is not the store's doing. */
  async pass<T>(work: () => Promise<T>): Promise<T | Refusal> {
    try {
      const result = await work();
      if (this.isDown) this.log.info({}, 'the store works again');
      this.isDown = false;
      return result;
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error;
      if (!this.isDown) this.log.error({ err: error.message }, 'the store cannot take anything: events are refused');
      this.isDown = true;
      return STORE_DOWN;
    }
  }
}
