/** Calls the event listeners of the embedding program. */
import type { ServiceEvents } from './gateway-service.ts';
import type { Logger } from './platform/log.ts';

type Registered = { readonly [Name in keyof ServiceEvents]: Set<(event: ServiceEvents[Name]) => void> };

export class Listeners {
  private readonly log: Logger;
  private readonly registered: Registered = { finished: new Set() };

  constructor(log: Logger) {
    this.log = log;
  }

  /** Adds a listener; returns a function that removes it. */
  on<Name extends keyof ServiceEvents>(name: Name, listener: (event: ServiceEvents[Name]) => void): () => void {
    this.registered[name].add(listener);
    return () => void this.registered[name].delete(listener);
  }

  /** Calls all listeners. An error of a listener is logged and has no other effect. */
  emit<Name extends keyof ServiceEvents>(name: Name, event: ServiceEvents[Name]): void {
    for (const listener of this.registered[name]) {
      try {
        listener(event);
      } catch (error) {
        this.log.error({ err: error, event: name }, 'a listener failed');
      }
    }
  }
}
