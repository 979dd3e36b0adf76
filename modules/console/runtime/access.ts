/**
 * Authenticates clients of the console and finds their role.
 *
 *   credential          `Authorization: Bearer <token>`, or the cookie that `POST /login` sets for it
 *   operator, viewer    depends on the token, which may be that of a person; a viewer has read-only access
 *   no token set        local programs, and pages of this server under a loopback name, are operators
 *
 * Browsers also send cookies with requests from pages of other sites, so reads and changes with a cookie are accepted only from
 * pages of this server. Only a program adds a bearer token, so that needs no such check.
 */

import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { messageOf } from '../../../base/errors.ts';
import type { ConsoleContext } from '../../../runtime/console/console.ts';
import { clientOf, foreignPart, plainAddress } from '../../../runtime/intake/client.ts';
import type { IntakeRequest } from '../../../runtime/intake/unverified-bodies.ts';
import type { Credential, Person } from '../../../runtime/table/link-people.ts';
import type { ConsolePlan } from '../../../schemas/generated/types.ts';
import { ApiRefusal } from './answer.ts';

/** Wrong tokens of one client that get 401 in a window; further ones get 429. The window is in ms. */
const MAX_FAILURES = 10;
const WINDOW_MS = 60_000;
/** Most clients to remember; the one with the oldest window is dropped first. */
const MOST_CLIENTS = 10_000;

export class Access {
  private readonly context: ConsoleContext;
  private readonly logins: Logins;
  private readonly name: string;
  private readonly failures = new Map<string, { count: number; readonly until: number }>();

  constructor(context: ConsoleContext) {
    this.context = context;
    this.name = cookieName(context.plan);
    this.logins = new Logins(context, this.name);
  }

  /** Null: unauthenticated. @throws ApiRefusal after too many wrong tokens of the client */
  async personOf(request: IntakeRequest): Promise<Person | null> {
    const { headers } = request;
    if (this.context.isOpen()) return foreignPart(headers) === null ? ANYONE : null;
    if (headers.authorization !== undefined) {
      const [, given = null] = /^Bearer +(.+)$/i.exec(headers.authorization) ?? [];
      return given === null ? null : this.ownerOf(request, given);
    }
    if (isForeign(headers['sec-fetch-site'])) return null;
    return (await this.logins.find(headers.cookie, this.context.people()))?.person ?? null;
  }

  /** @returns the person, and the value of `Set-Cookie` @throws ApiRefusal for a wrong token */
  login(request: IntakeRequest, token: string): { readonly person: Person; readonly cookie: string } {
    const person = this.ownerOf(request, token);
    if (person === null) throw new ApiRefusal(401, 'unauthorized', 'wrong token: use the one of gateway.console');
    return { person, cookie: this.cookie(request, this.logins.begin(person), LOGIN_SECONDS) };
  }

  /** Ends the login of the request. @returns headers that delete the cookie in the browser; an ApiRefusal has them too */
  async logout(request: IntakeRequest): Promise<Readonly<Record<string, string>>> {
    const headers = { 'set-cookie': this.cookie(request, '', 0) };
    const login = await this.logins.find(request.headers.cookie, this.context.people());
    if (login === null || (await this.logins.end(login))) return headers;
    throw new ApiRefusal(503, 'not_available', 'only this browser is signed out: copies of its cookie work', headers);
  }

  /** Call it before any other check. @throws ApiRefusal for a change that may come from a page of another site */
  checkOrigin({ headers }: IntakeRequest): void {
    const { origin, host, cookie, authorization, 'sec-fetch-site': site } = headers;
    if (authorization !== undefined || site === 'same-origin') return;
    const isOwn = origin === undefined ? cookie === undefined : isOwnOrigin(origin, host);
    if (site === undefined && isOwn) return;
    throw new ApiRefusal(403, 'foreign_origin', 'a change by a browser must come from a page of this server');
  }

  /**
   * The path below which the browser sees the console, with a slash at its end: that of the request, or, if a trusted proxy has removed it, as that proxy says.
   */
  pathOf(request: IntakeRequest): string {
    const { base_path } = this.context.plan;
    if (base_path !== undefined && request.url?.startsWith(`${base_path}/`)) return `${base_path}/`;
    const prefix = String(request.headers['x-forwarded-prefix'] ?? '');
    return PREFIX.test(prefix) && this.context.connections.trusts(request) ? `${prefix.replace(/\/$/, '')}/` : '/';
  }

  private cookie(request: IntakeRequest, value: string, seconds: number): string {
    // With several proxies, the first value is from the one that the browser reached.
    const isTls = /^https\s*(?:,|$)/i.test(String(request.headers['x-forwarded-proto'] ?? ''));
    const isSecure = isTls && this.context.connections.trusts(request);
    return `${this.name}=${value}; Path=${this.pathOf(request)}; Max-Age=${seconds}; HttpOnly; SameSite=Strict${isSecure ? '; Secure' : ''}`;
  }

  /** A correct token always passes: limiting it would lock operators out while others guess. */
  private ownerOf(request: IntakeRequest, given: string): Credential | null {
    const owner = this.context.people().find(({ token }) => isSame(given, token));
    if (owner !== undefined) return owner;
    const client = request.client ?? clientOf(plainAddress(request.socket.remoteAddress ?? ''));
    const now = this.context.clock.monotonic();
    const known = this.failures.get(client);
    if (known === undefined || known.until <= now) {
      this.failures.delete(client);
      this.failures.set(client, { count: 1, until: now + WINDOW_MS });
      const [first] = this.failures.keys();
      if (this.failures.size > MOST_CLIENTS && first !== undefined) this.failures.delete(first);
      return null;
    }
    if (++known.count <= MAX_FAILURES) return null;
    const seconds = Math.ceil((known.until - now) / 1000);
    throw new ApiRefusal(429, 'rate_limited', 'too many wrong tokens', { 'retry-after': String(seconds) });
  }
}

const ANYONE: Person = { role: 'operator', name: null };

/** No character that ends the path in a cookie, and no second slash at the beginning, which would name another host in a redirect. */
const PREFIX = /^(?:\/[\w~-][\w.~-]*){1,20}\/?$/;

const isForeign = (site: unknown): boolean => site === 'cross-site' || site === 'same-site';

/** Behind a TLS proxy, the page has an `https` origin. */
const isOwnOrigin = (origin: string, host = ''): boolean =>
  [`http://${host}`, `https://${host}`].some((own) => own.toLowerCase() === origin.toLowerCase());

/*
 * Browser logins. The cookie is signed with the token itself, so it survives a restart, is valid on every gateway with that token,
 * and becomes invalid with it, or if the token becomes that of another person. A logout is a row of the store until the cookie would have expired: it also survives a restart,
 * and other gateways see it within a second.
 */

/** How long a login lasts, in seconds. */
const LOGIN_SECONDS = 12 * 3600;
/** Most logouts in the store, of all gateways. Only clients with a token can add one. */
const MOST_ENDED = 10_000;
/** How long the stored logouts are cached, in ms. */
const FRESH_MS = 1000;

interface Login {
  readonly person: Person;
  readonly id: string;
  /** Unix ms. */
  readonly expires_at: number;
}

export class Logins {
  private readonly context: Pick<ConsoleContext, 'store' | 'clock' | 'log'>;
  private readonly pattern: RegExp;
  private ended: ReadonlySet<string> = new Set();
  private readAt = Number.NEGATIVE_INFINITY;

  /** @param name of the cookie */
  constructor(context: Logins['context'], name: string) {
    this.context = context;
    this.pattern = new RegExp(`(?:^|; *)${name}=(\\d{1,12})\\.([0-9a-f]{24})\\.([0-9a-f]{64})(?:;|$)`);
  }

  /** @returns the value of a cookie */
  begin(person: Credential): string {
    const expires = Math.floor(this.context.clock.now() / 1000) + LOGIN_SECONDS;
    const claims = `${expires}.${randomBytes(12).toString('hex')}`;
    return `${claims}.${sign(person, claims)}`;
  }

  /** Null: no login, or it has ended. @param cookie the header */
  async find(cookie: string | undefined, people: readonly Credential[]): Promise<Login | null> {
    const [, expires = '', id = '', signature = ''] = this.pattern.exec(cookie ?? '') ?? [];
    const expires_at = Number(expires) * 1000;
    if (expires_at <= this.context.clock.now()) return null;
    const person = people.find((each) => isSame(signature, sign(each, `${expires}.${id}`)));
    if (person === undefined) return null;
    await this.readEnded();
    return this.ended.has(id) ? null : { person, id, expires_at };
  }

  /** False: the logout could not be stored, so the login stays valid. */
  async end({ id, expires_at }: Login): Promise<boolean> {
    const { store, clock, log } = this.context;
    if (this.ended.size >= MOST_ENDED) return false;
    const change = { expect: null, body: 'true', expires_at, dispatch: null, now: clock.now() };
    try {
      await store.write({ kind: 'put_guard', row: { kind: 'logout', key: id }, ...change });
    } catch (error) {
      log.warn({ reason: messageOf(error) }, 'could not store a console logout');
      return false;
    }
    this.ended = new Set([...this.ended, id]);
    return true;
  }

  /** While the store cannot be read, the cached logouts stay in effect. */
  private async readEnded(): Promise<void> {
    const { store, clock, log } = this.context;
    const now = clock.monotonic();
    if (now - this.readAt < FRESH_MS) return;
    this.readAt = now;
    try {
      this.ended = new Set((await store.read({ kind: 'guard_rows', of: 'logout' })).map(({ key }) => key));
    } catch (error) {
      log.debug({ reason: messageOf(error) }, 'could not read console logouts');
    }
  }
}

/**
 * Browsers do not distinguish the ports of a host. Gateways behind one address have the same configuration, so a login is valid on
 * each of them, and after a restart.
 */
export function cookieName({ name, port, base_path }: Pick<ConsolePlan, 'name' | 'port' | 'base_path'>): string {
  const digest = sha256(JSON.stringify([name, port, base_path])).toString('hex');
  return `hookwright_console_${digest.slice(0, 12)}`;
}

const sign = ({ token, name }: Credential, claims: string): string =>
  createHmac('sha256', token)
    .update(`hookwright console ${claims}${name === null ? '' : ` ${name}`}`)
    .digest('hex');

/** Compares in constant time. */
const isSame = (a: string, b: string): boolean => timingSafeEqual(sha256(a), sha256(b));
const sha256 = (value: string): Buffer => createHash('sha256').update(value).digest();
