/**
 * Logins of browsers. The cookie is signed under the token itself, so it survives a restart, counts on each gateway that has the
 * token, and ends with it. What ends before its time, by a logout, is a row of the store until it would have expired: that
 * survives too, and other gateways know it within a second.
 */
import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { messageOf } from '../../../base/message-of.ts';
import type { ConsoleContext } from '../../../runtime/console/console.ts';

export type Role = 'operator' | 'viewer';
export type RoleToken = readonly [role: Role, token: string];

/** How long a login lasts, in seconds. */
export const LOGIN_SECONDS = 12 * 3600;
/** Logins that were ended before their time, of all gateways; only who has a token can make more. */
const MOST_ENDED = 10_000;
/** What was read of the store this long ago, in ms, is good enough. */
const FRESH_MS = 1000;

interface Login {
  readonly role: Role;
  readonly id: string;
  /** Unix ms. */
  readonly expires_at: number;
}

export class Logins {
  private readonly context: Pick<ConsoleContext, 'store' | 'clock' | 'log'>;
  private ended: ReadonlySet<string> = new Set();
  private readAt = Number.NEGATIVE_INFINITY;

  constructor(context: Logins['context']) {
    this.context = context;
  }

  /** @returns the value of a cookie */
  begin(token: string): string {
    const expires = Math.floor(this.context.clock.now() / 1000) + LOGIN_SECONDS;
    const named = `${expires}.${randomBytes(12).toString('hex')}`;
    return `${named}.${sign(token, named)}`;
  }

  /** Null: there is none, or it has ended. @param cookie the header */
  async find(cookie: string | undefined, tokens: readonly RoleToken[]): Promise<Login | null> {
    const [, expires = '', id = '', signature = ''] = PATTERN.exec(cookie ?? '') ?? [];
    const expires_at = Number(expires) * 1000;
    if (expires_at <= this.context.clock.now()) return null;
    const [role] = tokens.find(([, token]) => isSame(signature, sign(token, `${expires}.${id}`))) ?? [];
    if (role === undefined) return null;
    await this.readEnded();
    return this.ended.has(id) ? null : { role, id, expires_at };
  }

  /** False: it could not be stored, and goes on. */
  async end({ id, expires_at }: Login): Promise<boolean> {
    const { store, clock, log } = this.context;
    if (this.ended.size >= MOST_ENDED) return false;
    const change = { expect: null, body: 'true', expires_at, dispatch: null, now: clock.now() };
    try {
      await store.write({ kind: 'put_guard', row: { kind: 'logout', key: id }, ...change });
    } catch (error) {
      log.warn({ reason: messageOf(error) }, 'a logout of the console cannot be stored');
      return false;
    }
    this.ended = new Set([...this.ended, id]);
    return true;
  }

  /** While the store cannot be read, what was known of it goes on to count. */
  private async readEnded(): Promise<void> {
    const { store, clock, log } = this.context;
    const now = clock.monotonic();
    if (now - this.readAt < FRESH_MS) return;
    this.readAt = now;
    try {
      this.ended = new Set((await store.read({ kind: 'guard_rows', of: 'logout' })).map(({ key }) => key));
    } catch (error) {
      log.debug({ reason: messageOf(error) }, 'ended logins cannot be read');
    }
  }
}

const PATTERN = /(?:^|; *)hookwright_console=(\d{1,12})\.([0-9a-f]{24})\.([0-9a-f]{64})(?:;|$)/;

const sign = (token: string, named: string): string =>
  createHmac('sha256', token).update(`hookwright console ${named}`).digest('hex');

/** Takes the same time for every text. */
export const isSame = (a: string, b: string): boolean => timingSafeEqual(sha256(a), sha256(b));
const sha256 = (value: string): Buffer => createHash('sha256').update(value).digest();
