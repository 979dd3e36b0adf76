/**
 * Secrets that arrive in a handshake, accepted only while a command waits for them: trust on first use, for a short time.
 *
 *     closed ──wait──▶ open ──handshake──▶ captured ──wait──▶ closed
 *                       └──the wait lapses──▶ closed
 *
 * A command waits by polling: when it exits, the enrolment closes after a few seconds.
 */

import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { messageOf } from '../../base/message-of.ts';
import type { RoutePlan } from '../../schemas/generated/types.ts';
import type { Clock } from '../platform/clock.ts';
import { filePath } from '../platform/secrets/secret-resolver.ts';
import { writeAtomic } from '../platform/write-atomic.ts';
import type { CaptureSecret } from './handshake.ts';

/** The result of a wait. */
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

/** Most time between two polls of one wait, in ms. */
const GRACE_MS = 5000;

interface Enrolment {
  /** Monotonic ms. */
  openUntil: number;
  captured: CapturedSecret | null;
  wake: () => void;
}

export class Enrolments {
  private readonly context: EnrolmentContext;
  private readonly enrolments = new Map<string, Enrolment>();

  constructor(context: EnrolmentContext) {
    this.context = context;
  }

  /** For `linkHandshake` of a route. The first secret closes the enrolment. */
  capture(plan: RoutePlan): CaptureSecret {
    const take = (secret: string): boolean => {
      const enrolment = this.openEnrolment(plan);
      if (enrolment === null) return false;
      enrolment.captured = this.store(plan, secret);
      enrolment.wake();
      return enrolment.captured.kind === 'stored';
    };
    return Object.assign(take, { isAwaited: () => this.openEnrolment(plan) !== null });
  }

  private openEnrolment({ profile, name }: RoutePlan): Enrolment | null {
    const enrolment = this.enrolments.get(keyOf(profile, name));
    if (enrolment === undefined || enrolment.captured !== null) return null;
    return enrolment.openUntil < this.context.clock.monotonic() ? null : enrolment;
  }

  /** One poll: waits up to `holdMs`. Null: no secret arrived yet, call again. */
  async wait(profile: string, route: string, holdMs: number): Promise<CapturedSecret | null> {
    const key = keyOf(profile, route);
    const { clock } = this.context;
    const enrolment: Enrolment = this.enrolments.get(key) ?? { openUntil: 0, captured: null, wake: () => {} };
    this.enrolments.set(key, enrolment);
    enrolment.openUntil = clock.monotonic() + holdMs + GRACE_MS;
    if (enrolment.captured === null) {
      await new Promise<void>((resolve) => {
        const timer = clock.after(holdMs, resolve);
        enrolment.wake = () => {
          timer.cancel();
          resolve();
        };
      });
    }
    if (enrolment.captured !== null) this.enrolments.delete(key);
    return enrolment.captured;
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

/** The folders that a reference may be relative to, as absolute paths. */
interface SecretFolders {
  readonly home: string;
  readonly userHome: string;
}

/** The file of the route's current secret; null when the secret is not kept in a file. */
export function capturedFile(folders: SecretFolders, plan: RoutePlan): string | null {
  const ref = plan.secrets[0]?.ref;
  return ref?.kind === 'file' ? filePath(ref, folders) : null;
}

/** Returns the file's path. @throws Error when the route's secret is not a `file:`, or the file cannot be written */
export function storeCaptured(folders: SecretFolders, plan: RoutePlan, secret: string): string {
  const path = capturedFile(folders, plan);
  if (path === null) throw new Error(`the secret of route "${plan.name}" is not kept in a file`);
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  writeAtomic(path, `${secret}\n`, 0o600);
  return path;
}
