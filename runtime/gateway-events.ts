/** Tells a program what happens in the service that it runs. */
import type { ServiceEvents } from './gateway-service.ts';
import type { Logger } from './platform/log.ts';

type Registered = { readonly [Name in keyof ServiceEvents]: Set<(event: ServiceEvents[Name]) => void> };

export class Listeners {
  private readonly log: Logger;
  private readonly registered: Registered = { finished: new Set() };

  constructor(log: Logger) {
    this.log = log;
  }

  /** Returns the way to stop listening. */
  on<Name extends keyof ServiceEvents>(name: Name, listener: (event: ServiceEvents[Name]) => void): () => void {
    this.registered[name].add(listener);
    return () => void this.registered[name].delete(listener);
  }

  /** A listener that throws is logged, and keeps nothing from going on. */
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
