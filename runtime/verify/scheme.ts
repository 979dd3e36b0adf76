/** One scheme plan as a verifier: finds the signatures, the instant and the id, then asks the primitive. */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { LocatorPlan, SchemePlan } from '../../schemas/generated/types.ts';
import type { ContentInput } from './content.ts';
import { linkContent, urlBases } from './content.ts';
import { headerBytes } from './encoding.ts';
import { MAX_PARTS, MAX_VALUE_LENGTH, readText, readValue, splitParts } from './locator.ts';
import type { Check, Primitive } from './primitives.ts';
import { linkPrimitive } from './primitives.ts';
import type { SignedRequest } from './request.ts';
import { checkWindow, readTimestamp } from './timestamp.ts';
import type { Verdict, VerifyReason } from './verdict.ts';

/** A secret as the route holds it; `expires_at` is Unix time in ms. */
export interface SecretText {
  readonly text: string;
  readonly expires_at: number | null;
}

export interface LinkedScheme {
  readonly name: string;
  /** Whether the request carries a signature of this scheme: then it commits. */
  present(request: SignedRequest): boolean;
  /** @param now Unix time in ms */
  verify(request: SignedRequest, now: number): Verdict;
  /** Indexes of the secrets that can be no key of this scheme. */
  readonly unusable: readonly number[];
}

interface PreparedSecret {
  readonly index: number;
  readonly expires_at: number | null;
  readonly checks: readonly Check[];
}

/** Prepares every key and every piece of the template; nothing of it is done per request. */
export function linkScheme(plan: SchemePlan, secrets: readonly SecretText[], publicUrl: string | null): LinkedScheme {
  const primitive = linkPrimitive(plan);
  const prepared = secrets.map(
    ({ text, expires_at }, index): PreparedSecret => ({ index, expires_at, checks: primitive.prepare(text) }),
  );
  const unusable = prepared.filter(({ checks }) => checks.length === 0).map(({ index }) => index);
  const verifier = new SchemeVerifier(plan, primitive, prepared, publicUrl);
  return {
    name: plan.name,
    unusable,
    present: (request) => isPresent(plan, request),
    verify: (request, now) => verifier.verify(request, now),
  };
}

/** A scheme that binds the body through a digest elsewhere is there only when that digest is. */
function isPresent(plan: SchemePlan, request: SignedRequest): boolean {
  if (plan.body_hash !== null && readValue(plan.body_hash.at, request) === undefined) return false;
  return plan.signature.some((at) => readValue(at, request) !== undefined);
}

class SchemeVerifier {
  readonly #plan: SchemePlan;
  readonly #secrets: readonly PreparedSecret[];
  readonly #content: (input: ContentInput) => ReturnType<ReturnType<typeof linkContent>>;
  readonly #bases: readonly string[];
  readonly #headers: readonly string[];
  readonly #wellFormed: (signature: string) => boolean;
  readonly #parsesBody: boolean;

  constructor(plan: SchemePlan, primitive: Primitive, secrets: readonly PreparedSecret[], publicUrl: string | null) {
    this.#plan = plan;
    this.#secrets = secrets;
    this.#content = linkContent(plan.signed);
    this.#bases = urlBases(publicUrl, plan.signed);
    this.#headers = headerNames(plan);
    this.#wellFormed = primitive.wellFormed;
    this.#parsesBody = plan.signed.some(({ kind }) => kind === 'json' || kind === 'params');
  }

  verify(request: SignedRequest, now: number): Verdict {
    const result = this.#run(request, now);
    return typeof result === 'number'
      ? { ok: true, scheme: this.#plan.name, secret: result }
      : { ok: false, scheme: this.#plan.name, reason: result };
  }

  /** Index of the secret that matched, or why none did. */
  #run(request: SignedRequest, now: number): number | VerifyReason {
    const plan = this.#plan;
    if (isRepeated(request.rawHeaders, this.#headers)) return 'repeated_header';
    const signatures = this.#signatures(request);
    if (typeof signatures === 'string') return signatures;
    const timestamp = plan.timestamp === null ? { text: '' } : readTimestamp(plan.timestamp, request);
    if (typeof timestamp === 'string') return timestamp;
    const window = plan.timestamp === null ? null : checkWindow(plan.timestamp, timestamp.text, now);
    if (window !== null && plan.timestamp?.after !== true) return window;
    const id = plan.id === null ? null : readId(plan.id, request);
    if (typeof id === 'string') return id;
    const unbound = this.#checkBody(request);
    if (unbound !== null) return unbound;
    const matched = this.#match({ request, timestamp: timestamp.text, id }, signatures, now);
    return typeof matched === 'string' ? matched : (window ?? matched);
  }

  #signatures(request: SignedRequest): readonly string[] | VerifyReason {
    const plan = this.#plan;
    const found: string[] = [];
    let missing: VerifyReason =
      plan.verify === 'token' || plan.verify === 'basic' ? 'missing_credential' : 'missing_signature';
    for (const at of plan.signature) {
      const value = readText(at, request);
      if (value === null) continue;
      if (value.length > MAX_VALUE_LENGTH) return 'oversized_header';
      const parts = splitParts(at, value);
      if (typeof parts === 'string') return parts;
      if (parts.length === 0) missing = isOtherVersion(plan, at, value) ? 'unknown_version' : 'malformed_signature';
      for (const part of parts) {
        if (part === '' || !this.#wellFormed(part)) return 'malformed_signature';
        found.push(part);
      }
    }
    if (found.length > MAX_PARTS) return 'too_many_parts';
    return found.length === 0 ? missing : found;
  }

  /** The parts of the body a scheme signs must be readable; a digest of the body elsewhere must be its own. */
  #checkBody(request: SignedRequest): VerifyReason | null {
    const hash = this.#plan.body_hash;
    if (hash !== null) {
      const text = readText(hash.at, request) ?? '';
      const claimed = Buffer.from(hash.encoding === 'hex' ? text.toLowerCase() : text, 'utf8');
      const actual = Buffer.from(createHash(hash.hash).update(request.body).digest(hash.encoding), 'utf8');
      return claimed.length === actual.length && timingSafeEqual(claimed, actual) ? null : 'body_mismatch';
    }
    if (!this.#parsesBody) return null;
    const readable = this.#plan.signed.every(
      ({ kind }) =>
        (kind !== 'params' || request.form() !== null) && (kind !== 'json' || request.payload() !== undefined),
    );
    return readable ? null : 'unreadable_body';
  }

  #match(input: Omit<ContentInput, 'base'>, signatures: readonly string[], now: number): number | VerifyReason {
    let usable = false;
    if (this.#bases.length === 0) return 'no_public_url';
    for (const base of this.#bases) {
      const content = this.#content({ ...input, base });
      for (const secret of this.#secrets) {
        if (secret.checks.length === 0 || (secret.expires_at !== null && secret.expires_at <= now)) continue;
        usable = true;
        for (const check of secret.checks) if (check(content, signatures)) return secret.index;
      }
    }
    return usable ? 'mismatch' : 'unusable_secret';
  }
}

/** Bytes of the signed id. */
function readId(at: LocatorPlan, request: SignedRequest): Buffer | VerifyReason {
  const text = readText(at, request);
  if (text === null || text === '') return 'missing_id';
  if (text.length > MAX_VALUE_LENGTH) return 'oversized_header';
  return (at.in === 'header' ? headerBytes(text) : Buffer.from(text, 'utf8')) ?? 'missing_id';
}

/** Header names the scheme reads: each may come once. */
function headerNames(plan: SchemePlan): string[] {
  const places = [...plan.signature, plan.timestamp?.at, plan.id, plan.body_hash?.at];
  return [...new Set(places.filter((at) => at?.in === 'header').map((at) => at?.name ?? ''))];
}

function isRepeated(rawHeaders: readonly string[], names: readonly string[]): boolean {
  for (const name of names) {
    let count = 0;
    for (let index = 0; index < rawHeaders.length; index += 2) {
      const raw = rawHeaders[index];
      if (raw?.length === name.length && raw.toLowerCase() === name) count += 1;
    }
    if (count > 1) return true;
  }
  return false;
}

/** Whether a value without the wanted prefix holds a signature under another label (`v5=…` where `v1=…` is wanted). */
function isOtherVersion(plan: SchemePlan, at: LocatorPlan, value: string): boolean {
  const mark = at.prefix.at(-1);
  if (at.split === '' || mark === undefined) return false;
  const own = plan.timestamp?.at.prefix ?? '';
  return value
    .split(at.split, MAX_PARTS)
    .map((part) => part.trim())
    .some((part) => part.indexOf(mark) > 0 && !part.endsWith(mark) && (own === '' || !part.startsWith(own)));
}
