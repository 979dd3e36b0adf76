/**
 * The accounts as which targets post, for those whose `login` is not set and whose service tells it: events that they send are
 * the gateway's own. A service that does not answer is asked again with a later event.
 */
import type { Clock } from '../platform/clock.ts';
import type { LinkedTargets } from './link-targets.ts';

const ASK_AGAIN_MS = 60_000;

interface OwnLogin {
  login: string | null;
  /** Monotonic ms, from which on it may be asked again; null: it is being asked. */
  from: number | null;
}

export class OwnLogins {
  private readonly clock: Clock;
  private linked: LinkedTargets;
  private logins = new Map<string, OwnLogin>();

  constructor(clock: Clock, linked: LinkedTargets) {
    this.clock = clock;
    this.linked = linked;
  }

  /** Takes the targets of another table. */
  use(linked: LinkedTargets): void {
    this.linked = linked;
    this.logins = new Map();
  }

  /** The login; null while it is not known. */
  of(profile: string, target: string): string | null {
    const find = this.linked.get(profile)?.get(target)?.driver.findLogin;
    if (find === undefined) return null;
    const key = JSON.stringify([profile, target]);
    const own = this.logins.get(key) ?? { login: null, from: 0 };
    if (own.login === null && own.from !== null && own.from <= this.clock.monotonic()) {
      own.from = null;
      this.logins.set(key, own);
      void find().then((result) => {
        if (result.kind === 'token') own.login = result.token;
        own.from = this.clock.monotonic() + ASK_AGAIN_MS;
      });
    }
    return own.login;
  }
}
