/**
 * Secrets that arrive in a handshake, taken only while somebody waits for them: trust on first use, for a short time.
 *
 *     closed ──wait──▶ open ──handshake──▶ captured ──wait──▶ closed
 *                       └──the wait lapses──▶ closed
 *
 * A command waits in short turns: when it is gone, the enrolment closes by itself.
 */
import { messageOf } from '../../base/message-of.ts';
import type { RoutePlan } from '../../schemas/generated/types.ts';
import type { Clock } from '../platform/clock.ts';
import type { CaptureSecret } from './handshake.ts';

/** What became of a wait: the secret was stored, or could not be. */
export type CapturedSecret =
  | { readonly kind: 'stored'; readonly file: string }
  | { readonly kind: 'failed'; readonly reason: string };

export interface EnrolmentContext {
  readonly clock: Clock;
  /**
   * Stores the secret of a route where the route reads it from, for its owner's eyes only; returns the file's path.
   * Throws when the route's secret is not kept in a file or the file cannot be written.
   */
  readonly store: (plan: RoutePlan, secret: string) => string;
}

/** Between two turns of one wait, in ms. */
const GRACE_MS = 5000;

interface Door {
  /** Monotonic ms. */
  openUntil: number;
  captured: CapturedSecret | null;
  wake: () => void;
}

export class Enrolments {
  private readonly context: EnrolmentContext;
  private readonly doors = new Map<string, Door>();

  constructor(context: EnrolmentContext) {
    this.context = context;
  }

  /** For `linkHandshake` of a route. The first secret closes the door. */
  capture(plan: RoutePlan): CaptureSecret {
    const take = (secret: string): boolean => {
      const door = this.openDoor(plan);
      if (door === null) return false;
      door.captured = this.store(plan, secret);
      door.wake();
      return door.captured.kind === 'stored';
    };
    return Object.assign(take, { isAwaited: () => this.openDoor(plan) !== null });
  }

  private openDoor({ profile, name }: RoutePlan): Door | null {
    const door = this.doors.get(keyOf(profile, name));
    if (door === undefined || door.captured !== null) return null;
    return door.openUntil < this.context.clock.monotonic() ? null : door;
  }

  /** One turn of waiting, for at most `holdMs`; null: nothing came, come again. */
  async wait(profile: string, route: string, holdMs: number): Promise<CapturedSecret | null> {
    const key = keyOf(profile, route);
    const { clock } = this.context;
    const door: Door = this.doors.get(key) ?? { openUntil: 0, captured: null, wake: () => {} };
    this.doors.set(key, door);
    door.openUntil = clock.monotonic() + holdMs + GRACE_MS;
    if (door.captured === null) {
      await new Promise<void>((resolve) => {
        const timer = clock.after(holdMs, resolve);
        door.wake = () => {
          timer.cancel();
          resolve();
        };
      });
    }
    if (door.captured !== null) this.doors.delete(key);
    return door.captured;
  }

  private store(plan: RoutePlan, secret: string): CapturedSecret {
    try {
      return { kind: 'stored', file: this.context.store(plan, secret) };
    } catch (error) {
      return { kind: 'failed', reason: messageOf(error) };
    }
  }
}

const keyOf = (profile: string, route: string): string => `${profile}/${route}`;
