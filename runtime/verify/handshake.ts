/**
 * Answers the handshakes of a source: requests by which a sender checks, before or between events, that the URL is meant
 * to receive its webhooks.
 *
 *     echo     the value is returned as text (GET with a query, or a signed POST)
 *     reply    a small JSON response with the value and its HMAC
 *     capture  the request carries the secret itself: accepted only at the address that a waiting command shows
 *     ok       an empty 200
 *
 * GET, HEAD and `capture` requests are unsigned and are answered before the signature check; any other POST after it.
 */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { messageOf } from '../../base/errors.ts';
import type { ControlContract, EnrollReport } from '../../schemas/built/operations/types.ts';
import type { ChallengePlan, RoutePlan, SchemePlan, SecretRef } from '../../schemas/generated/types.ts';
import type { Clock } from '../platform/clock.ts';
import { writeAtomic } from '../platform/files.ts';
import { filePath, SecretError } from '../platform/secrets.ts';
import { secretKeys } from './primitives.ts';
import type { SignedRequest } from './request.ts';
import { readFirst, readLocatedText } from './request.ts';

/** Accepts a captured secret; returns false if no command waits for one in this request. */
export interface CaptureSecret {
  (secret: string, request: SignedRequest): boolean;
  /** True if a command is waiting for this request; absent: one may be. */
  readonly isAwaited?: (request: SignedRequest) => boolean;
}

export interface HandshakeContext {
  /** The route's current secret, the key of the HMAC in a `reply`. Null if there is none. */
  readonly secret: string | null;
  /** The verify token that the sender must send; null: handshakes with a token are not answered. */
  readonly verifyToken: string | null;
  /** Null if nothing can be captured. */
  readonly capture: CaptureSecret | null;
}

export interface HandshakeAnswer {
  readonly status: number;
  /** Alternating names and values. */
  readonly headers: readonly string[];
  readonly body: string;
}

/** Returns the response; null if the request is not a handshake. `signed`: its signature is known to be valid. */
export type AnswerHandshake = (request: SignedRequest, signed: boolean) => HandshakeAnswer | null;

type LinkedContext = HandshakeContext & { readonly key: Buffer | null };
type Answer = (challenge: ChallengePlan, request: SignedRequest, context: LinkedContext) => HandshakeAnswer | null;

/** Maximum length of a value that is echoed or captured, in UTF-16 units. */
const MAX_VALUE = 1024;
/** Values that may be captured or echoed in a header: visible ASCII. */
const VISIBLE = /^[\x21-\x7e]+$/;
const PLACEHOLDER = /\{(value|hmac-sha256-hex:value)\}/g;

const ANSWERS: Readonly<Record<ChallengePlan['kind'], Answer>> = {
  ok: (challenge) => respond(challenge, '', 'text/plain; charset=utf-8'),
  echo: (challenge, request) => {
    const value = handshakeValue(challenge, request);
    return value === null ? null : respond(challenge, value, 'text/plain; charset=utf-8');
  },
  reply: (challenge, request, { key }) => {
    if (challenge.body === null) return respond(challenge, '', 'application/json');
    const value = challenge.value === null ? '' : handshakeValue(challenge, request);
    const body = value === null ? null : fillJson(challenge.body, value, key);
    return body === null ? null : respond(challenge, body, 'application/json');
  },
  capture: (challenge, request, { capture }) => {
    const value = challenge.value === null ? null : readFirst([challenge.value], request, false);
    if (value === null || value.length > MAX_VALUE || !VISIBLE.test(value) || capture?.(value, request) !== true)
      return null;
    return respond(challenge, '', 'text/plain; charset=utf-8', challenge.echo === null ? [] : [challenge.echo, value]);
  },
};

/** Null for a source without handshakes. */
export function linkHandshake(plan: SchemePlan, context: HandshakeContext): AnswerHandshake | null {
  if (plan.challenges.length === 0) return null;
  const key = context.secret === null ? null : (secretKeys(context.secret, plan.secret)[0] ?? null);
  const linked: LinkedContext = { ...context, key };
  const unsigned = plan.challenges.filter(({ kind, method }) => method !== 'POST' || kind === 'capture');
  const signed = plan.challenges.filter((challenge) => !unsigned.includes(challenge));
  return (request, isSigned) => {
    for (const challenge of isSigned ? signed : unsigned) {
      if (!isHandshake(challenge, request, context.verifyToken)) continue;
      const answer = ANSWERS[challenge.kind](challenge, request, linked);
      if (answer !== null) return answer;
    }
    return null;
  };
}

/**
 * Links the check whether an unsigned POST may carry the secret, as far as that is visible without its body. Null if the source
 * never sends one.
 */
export function linkSecretCheck(
  plan: SchemePlan,
  capture: CaptureSecret | null,
): ((request: SignedRequest) => boolean) | null {
  const places = plan.challenges.flatMap(({ kind, value }) => (kind === 'capture' && value !== null ? [value] : []));
  if (capture === null || places.length === 0) return null;
  return (request) =>
    capture.isAwaited?.(request) !== false &&
    places.some((at) => at.in === 'json' || at.in === 'form' || readLocatedText(at, request) !== null);
}

/** True if the request checks the URL with a verify token, right or wrong, in one of these schemes. */
export function isTokenCheck(schemes: readonly SchemePlan[], request: SignedRequest): boolean {
  return schemes.some(({ challenges }) =>
    challenges.some(
      (challenge) =>
        challenge.token !== null &&
        fits(challenge, request) &&
        (challenge.when !== null || readLocatedText(challenge.token, request) !== null),
    ),
  );
}

/** True if the request matches the challenge in everything but the token. */
function fits({ method, when }: ChallengePlan, request: SignedRequest): boolean {
  if (request.method !== method) return false;
  if (when === null) return true;
  const found = readLocatedText(when.at, request);
  return found !== null && (when.equals === null || found === when.equals);
}

function isHandshake(challenge: ChallengePlan, request: SignedRequest, verifyToken: string | null): boolean {
  if (!fits(challenge, request)) return false;
  return challenge.token === null || isToken(readLocatedText(challenge.token, request), verifyToken);
}

/** Compares digests, so that not even the token's length is revealed. */
function isToken(received: string | null, expected: string | null): boolean {
  if (received === null || expected === null || expected === '') return false;
  return timingSafeEqual(sha256(received), sha256(expected));
}

function handshakeValue({ value }: ChallengePlan, request: SignedRequest): string | null {
  const text = value === null ? null : readLocatedText(value, request);
  return text === null || text === '' || text.length > MAX_VALUE ? null : text;
}

/** Fills in the strings of the response as JSON values. Null if an HMAC is needed and there is no key. */
function fillJson(template: string, value: string, key: Buffer | null): string | null {
  if (key === null && template.includes('{hmac-')) return null;
  const mac = key === null ? '' : createHmac('sha256', key).update(value, 'utf8').digest('hex');
  const fill = (field: unknown): unknown =>
    typeof field === 'string' ? field.replace(PLACEHOLDER, (_all, name) => (name === 'value' ? value : mac)) : field;
  const body: Record<string, unknown> = JSON.parse(template);
  return JSON.stringify(Object.fromEntries(Object.entries(body).map(([name, field]) => [name, fill(field)])));
}

/** Echoes untrusted text as plain text or JSON that no browser renders as a page. */
function respond(
  { status, headers }: ChallengePlan,
  body: string,
  type: string,
  more: readonly string[] = [],
): HandshakeAnswer {
  const own = ['X-Content-Type-Options', 'nosniff', ...Object.entries(headers).flat(), ...more];
  if (status === 204) return { status, headers: own, body: '' };
  return { status, headers: ['Content-Type', type, ...own], body };
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text, 'utf8').digest();
}

/*
 * Accepts secrets that arrive in a handshake, only while a command waits for them, and only at an address with a random part,
 * which only the operator and the sender know. A secret takes effect when the operator has confirmed it.
 *
 *     closed ──wait──▶ open ──handshake──▶ arrived ──wait, confirmed──▶ stored: closed
 *                       │                     └──another secret──▶ failed: closed
 *                       └──the wait lapses──▶ closed
 *
 * A command waits by polling: when it exits, the enrolment closes after a few seconds, or after a longer time for the answer.
 */

type Load = () => Promise<boolean>;

interface EnrolmentContext {
  readonly clock: Clock;
  /**
   * Stores the secret of a route in the file that the route reads it from, readable only by its owner; returns the file's path.
   * Rejects, and leaves the file as it was, if the text is not a secret, or the route cannot be served with it, or the route's
   * secret is not in a file that can be written. @param load puts the new secret in service; false: it could not
   */
  readonly store: (plan: RoutePlan, secret: string, load: Load) => Promise<string>;
}

/** Maximum time between two polls of one wait, in ms. */
const GRACE_MS = 5000;
/** Time for an operator to confirm a secret that arrived, in ms. */
const CONFIRM_MS = 900_000;

/** The random part of an address: 192 bits, in base64url. */
const RANDOM_PART = /\/([A-Za-z0-9_-]{32})$/;

/** The path of the route, of which this path with a random part is an alias; null if it has none. */
export const withoutRandomPart = (path: string): string | null =>
  RANDOM_PART.test(path) ? path.replace(RANDOM_PART, '') : null;

/** What a command waits for. */
type Awaited = ControlContract['enroll']['input'];

interface Enrolment {
  readonly key: string;
  /** Monotonic ms. */
  openUntil: number;
  arrived: { readonly plan: RoutePlan; readonly secret: string; readonly client: string } | null;
  /** True if a second secret arrived, which another client sent. */
  contested: boolean;
  wake: () => void;
}

export class Enrolments {
  private readonly context: EnrolmentContext;
  private readonly enrolments = new Map<string, Enrolment>();

  constructor(context: EnrolmentContext) {
    this.context = context;
  }

  /** For `linkHandshake` of a route. */
  capture(plan: RoutePlan): CaptureSecret {
    const take: CaptureSecret = (secret, request) => {
      const enrolment = this.openEnrolment(plan, request);
      if (enrolment === null) return false;
      enrolment.arrived ??= { plan, secret, client: request.client?.() ?? '' };
      enrolment.contested ||= !isToken(secret, enrolment.arrived.secret);
      enrolment.openUntil = Math.max(enrolment.openUntil, this.context.clock.monotonic() + CONFIRM_MS);
      enrolment.wake();
      return !enrolment.contested;
    };
    return Object.assign(take, { isAwaited: (at: SignedRequest) => this.openEnrolment(plan, at) !== null });
  }

  private openEnrolment({ profile, name }: RoutePlan, { url }: SignedRequest): Enrolment | null {
    const enrolment = this.enrolments.get(keyOf(profile, name));
    const [, key] = RANDOM_PART.exec(url.split('?', 1)[0] ?? '') ?? [];
    if (enrolment === undefined || key === undefined || !isToken(key, enrolment.key)) return null;
    return enrolment.contested || enrolment.openUntil < this.context.clock.monotonic() ? null : enrolment;
  }

  /** One poll: waits up to `holdMs`. A command with another random part replaces the one before. @param load see `store` */
  async wait(awaited: Awaited, holdMs: number, load: Load = async () => true): Promise<EnrollReport> {
    const id = keyOf(awaited.profile, awaited.route);
    const { clock } = this.context;
    const current = this.enrolments.get(id);
    const fresh: Enrolment = { key: awaited.key, openUntil: 0, arrived: null, contested: false, wake: () => {} };
    const enrolment = current !== undefined && isToken(awaited.key, current.key) ? current : fresh;
    this.enrolments.set(id, enrolment);
    enrolment.openUntil = Math.max(enrolment.openUntil, clock.monotonic() + holdMs + GRACE_MS);
    if (enrolment.arrived === null) {
      await new Promise<void>((resolve) => {
        const timer = clock.after(holdMs, resolve);
        enrolment.wake = () => {
          timer.cancel();
          resolve();
        };
      });
    }
    const report = await this.report(enrolment, awaited.confirm, load);
    if (report.kind !== 'waiting' && report.kind !== 'arrived') this.enrolments.delete(id);
    return report;
  }

  private async report(
    { arrived, contested }: Enrolment,
    confirm: string | undefined,
    load: Load,
  ): Promise<EnrollReport> {
    if (arrived === null) return { ...NOT_ARRIVED, kind: 'waiting' };
    const { plan, secret, client } = arrived;
    const report = { ...NOT_ARRIVED, client, fingerprint: sha256(secret).toString('hex').slice(0, 16) };
    if (contested) return { ...report, kind: 'failed', reason: 'two different secrets arrived' };
    if (confirm === undefined) return { ...report, kind: 'arrived' };
    if (confirm !== report.fingerprint) return { ...report, kind: 'failed', reason: 'another secret was confirmed' };
    try {
      return { ...report, kind: 'stored', file: await this.context.store(plan, secret, load) };
    } catch (error) {
      return { ...report, kind: 'failed', reason: messageOf(error) };
    }
  }
}

const NOT_ARRIVED = { file: null, reason: null, client: null, fingerprint: null };

const keyOf = (profile: string, route: string): string => `${profile}/${route}`;

/** The folders that a reference may be relative to, as absolute paths. */
interface SecretFolders {
  readonly home: string;
  readonly userHome: string;
}

/** The file of the route's current secret; null if the secret is not in a file. */
export function capturedFile(folders: SecretFolders, plan: RoutePlan): string | null {
  const ref = plan.secrets[0]?.ref;
  return ref?.kind === 'file' ? filePath(ref, folders) : null;
}

/** Returns the file's path. @throws Error if the route's secret is not a `file:`, or the file cannot be written */
export function storeCaptured(folders: SecretFolders, plan: RoutePlan, secret: string): string {
  const path = capturedFile(folders, plan);
  if (path === null) throw new Error(`the secret of route "${plan.name}" is not in a file`);
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  writeAtomic(path, `${secret}\n`, 0o600);
  return path;
}

/** Minimum length of a captured secret, in UTF-16 units: senders create long ones. */
const SHORTEST = 16;

/** The function `store` of enrolments. @param check throws SecretError for a value that no table may have */
export function captureStore(
  folders: SecretFolders,
  check: (ref: SecretRef, secret: string) => void,
): EnrolmentContext['store'] {
  return async (plan, secret, load) => {
    for (const { ref } of plan.secrets.slice(0, 1)) check(ref, secret);
    if (secret.length < SHORTEST) throw new SecretError(`it has fewer than ${SHORTEST} characters`);
    const path = capturedFile(folders, plan);
    const before = path !== null && existsSync(path) ? readFileSync(path, 'utf8') : null;
    const stored = storeCaptured(folders, plan, secret);
    if (await load()) return stored;
    if (before !== null) writeAtomic(stored, before, 0o600);
    throw new SecretError('the gateway cannot use it; its log says why, and the secret before it is kept');
  };
}
