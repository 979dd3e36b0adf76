/**
 * Who asks, and what they may do.
 *
 *   a credential        `Authorization: Bearer <token>`, or the cookie that `POST /login` sets for it
 *   operator, viewer    by which token it is; a viewer changes nothing
 *   no token set        programs of this machine, and pages of this server under a loopback name, are operators
 *
 * Browsers send cookies with requests that a page of somebody else makes, so a change with a cookie has to come from a page of
 * this server, and so has everything that is read with one. A bearer token is added by a program that means it.
 */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { ConsoleContext } from '../../../runtime/console/console.ts';
import type { IntakeRequest } from '../../../runtime/intake/body.ts';
import { clientOf, plainAddress } from '../../../runtime/intake/client-address.ts';
import { foreignPart } from '../../../runtime/intake/origin.ts';
import { ApiRefusal } from './answer.ts';

export type Role = 'operator' | 'viewer';

const COOKIE = 'hookwright_console';
/** How long a login lasts, in seconds. */
const SESSION_SECONDS = 12 * 3600;

/** Wrong credentials that one client may send in a window, and the length of it in ms. */
const MOST_FAILURES = 10;
const WINDOW_MS = 60_000;
/** Clients that are remembered; the one whose window began first is forgotten. */
const MOST_CLIENTS = 10_000;

export class Access {
  private readonly context: ConsoleContext;
  private readonly failures = new Map<string, { count: number; readonly until: number }>();

  constructor(context: ConsoleContext) {
    this.context = context;
  }

  /** Null: a stranger. @throws ApiRefusal for a client that has tried too many wrong tokens */
  roleOf(request: IntakeRequest): Role | null {
    const { headers } = request;
    const { token } = this.context;
    if (token === null) return foreignPart(headers) === null ? 'operator' : null;
    if (headers.authorization !== undefined) {
      const [, given = null] = /^Bearer +(.+)$/i.exec(headers.authorization) ?? [];
      return given === null ? null : this.judge(request, given);
    }
    return isForeign(headers['sec-fetch-site']) ? null : this.roleOfCookie(headers.cookie);
  }

  /** @returns the role, and the value of `Set-Cookie` @throws ApiRefusal for a wrong token */
  login(request: IntakeRequest, token: string): { readonly role: Role; readonly cookie: string } {
    const role = this.judge(request, token);
    if (role === null) throw new ApiRefusal(401, 'unauthorized', 'this is not the token of gateway.console');
    const expires = Math.floor(this.context.clock.now() / 1000) + SESSION_SECONDS;
    return { role, cookie: this.cookie(request, `${expires}.${sign(token, expires)}`, SESSION_SECONDS) };
  }

  /** @returns the value of `Set-Cookie` that ends a login in the browser */
  logout(request: IntakeRequest): string {
    return this.cookie(request, '', 0);
  }

  /** @throws ApiRefusal for a change that may come from a page of somebody else; called before anything else is looked at */
  checkOrigin({ headers }: IntakeRequest): void {
    const { origin, host, cookie, authorization, 'sec-fetch-site': site } = headers;
    if (authorization !== undefined || site === 'same-origin') return;
    const isOwn = origin === undefined ? cookie === undefined : isOwnOrigin(origin, host);
    if (site === undefined && isOwn) return;
    throw new ApiRefusal(403, 'foreign_origin', 'a change has to come from a page of this server');
  }

  private cookie(request: IntakeRequest, value: string, seconds: number): string {
    // Of several proxies the first is the one that the browser reached.
    const isTls = /^https\s*(?:,|$)/i.test(String(request.headers['x-forwarded-proto'] ?? ''));
    const isSecure = isTls && this.context.connections.trusts(request);
    return `${COOKIE}=${value}; Path=/; Max-Age=${seconds}; HttpOnly; SameSite=Strict${isSecure ? '; Secure' : ''}`;
  }

  private roleOfCookie(header = ''): Role | null {
    const [, expires = '', signature = ''] =
      /(?:^|; *)hookwright_console=(\d{1,12})\.([0-9a-f]{64})(?:;|$)/.exec(header) ?? [];
    if (Number(expires) * 1000 <= this.context.clock.now()) return null;
    return this.tokens().find(([, token]) => isSame(signature, sign(token, Number(expires))))?.[0] ?? null;
  }

  private judge(request: IntakeRequest, given: string): Role | null {
    const { clock } = this.context;
    const client = request.client ?? clientOf(plainAddress(request.socket.remoteAddress ?? ''));
    const now = clock.monotonic();
    const known = this.failures.get(client);
    const failed = known !== undefined && known.until > now ? known : null;
    if (failed !== null && failed.count >= MOST_FAILURES) {
      const seconds = Math.ceil((failed.until - now) / 1000);
      throw new ApiRefusal(429, 'rate_limited', 'too many wrong tokens', { 'retry-after': String(seconds) });
    }
    const role = this.tokens().find(([, token]) => isSame(given, token))?.[0] ?? null;
    if (role !== null) return role;
    if (failed !== null) failed.count++;
    else {
      this.failures.delete(client);
      this.failures.set(client, { count: 1, until: now + WINDOW_MS });
      const [first] = this.failures.keys();
      if (this.failures.size > MOST_CLIENTS && first !== undefined) this.failures.delete(first);
    }
    return null;
  }

  private tokens(): readonly (readonly [role: Role, token: string])[] {
    const { token, viewerToken } = this.context;
    return [
      ...(token === null ? [] : [['operator', token] as const]),
      ...(viewerToken === null ? [] : [['viewer', viewerToken] as const]),
    ];
  }
}

/** A login is a signature under the token itself: it survives a restart, and ends with the token. */
const sign = (token: string, expires: number): string =>
  createHmac('sha256', token).update(`hookwright console ${expires}`).digest('hex');

/** Takes the same time for every text. */
const isSame = (a: string, b: string): boolean => timingSafeEqual(sha256(a), sha256(b));
const sha256 = (value: string): Buffer => createHash('sha256').update(value).digest();

const isForeign = (site: unknown): boolean => site === 'cross-site' || site === 'same-site';

/** Behind a proxy with TLS the page is of `https`. */
const isOwnOrigin = (origin: string, host = ''): boolean =>
  [`http://${host}`, `https://${host}`].some((own) => own.toLowerCase() === origin.toLowerCase());
