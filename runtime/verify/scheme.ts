/** Links a scheme plan, once per table. Bound to the secrets of a route, a scheme verifies requests. */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { LocatorPlan, SchemePlan } from '../../schemas/generated/types.ts';
import type { ContentInput, SignedContent } from './content.ts';
import {
  checkWindow,
  eachItem,
  itemPath,
  linkContent,
  MAX_ITEMS,
  readTimestamp,
  urlBases,
  withPayload,
} from './content.ts';
import type { CheckSignature, Primitive, SharedKeys } from './primitives.ts';
import { linkPrimitive } from './primitives.ts';
import type { SignedRequest } from './request.ts';
import { isOutsideBody, MAX_PARTS, MAX_VALUE_LENGTH, readLocatedText, readValue, splitParts } from './request.ts';
import type { Refused, Verification, VerifyReason } from './verification.ts';

/** A secret of a route; `expires_at` is Unix time in ms. */
export interface SecretText {
  readonly text: string;
  readonly expires_at: number | null;
}

/** The parts of a scheme that depend on neither secrets nor requests. */
export interface LinkedScheme {
  readonly plan: SchemePlan;
  readonly primitive: Primitive;
  readonly content: (input: ContentInput) => SignedContent;
  readonly hasRepeatedHeader: (rawHeaders: readonly string[]) => boolean;
  /** True if the signed bytes include parts of the parsed body. */
  readonly parsesBody: boolean;
  /** True if the signed bytes include the body. */
  readonly signsBody: boolean;
  /** True if the signatures are in the head of the request. */
  readonly signedInHead: boolean;
  /** For a scheme that signs each item of a list: the path to the first. */
  readonly items: readonly string[] | null;
}

interface PreparedSecret {
  readonly index: number;
  readonly expires_at: number | null;
  readonly checks: readonly CheckSignature[];
}

export function linkScheme(plan: SchemePlan): LinkedScheme {
  const parsesBody = plan.signed.some(({ kind }) => kind === 'json' || kind === 'params');
  const signsBody = parsesBody || plan.signed.some(({ kind }) => kind === 'body');
  return {
    plan,
    primitive: linkPrimitive(plan),
    content: linkContent(plan.signed, plan.signs_decoded),
    hasRepeatedHeader: repeatedHeaderFinder(plan),
    parsesBody,
    signsBody,
    signedInHead: [...plan.signature, plan.body_hash?.at].every(isInHead),
    items: itemPath(plan),
  };
}

const isInHead = (at: LocatorPlan | null | undefined): boolean => at === null || at === undefined || isOutsideBody(at);

/** Returns a linker that links each plan once, shared by all routes of a table. */
export function schemeLinker(): (plan: SchemePlan) => LinkedScheme {
  const linked = new Map<SchemePlan, LinkedScheme>();
  return (plan) => {
    const scheme = linked.get(plan) ?? linkScheme(plan);
    linked.set(plan, scheme);
    return scheme;
  };
}

/** A scheme with the keys of one route. */
export class BoundScheme {
  readonly #scheme: LinkedScheme;
  readonly #secrets: readonly PreparedSecret[];
  readonly #bases: readonly string[];

  constructor(scheme: LinkedScheme, secrets: readonly SecretText[], publicUrl: string | null, shared: SharedKeys) {
    this.#scheme = scheme;
    this.#bases = urlBases(publicUrl, scheme.plan.signed);
    this.#secrets = secrets.map(({ text, expires_at }, index) => ({
      index,
      expires_at,
      checks: scheme.primitive.prepare(text, shared),
    }));
  }

  /** True if the secret at this index can be a key of this scheme. */
  canUse(index: number): boolean {
    return (this.#secrets[index]?.checks.length ?? 0) > 0;
  }

  /** True if the request carries a signature of this scheme: then this scheme alone decides. */
  present(request: SignedRequest): boolean {
    const { signature, body_hash } = this.#scheme.plan;
    // A scheme that signs a digest of the body is present only if that digest is.
    if (body_hash !== null && readValue(body_hash.at, request) === undefined) return false;
    for (const at of signature) if (readValue(at, request) !== undefined) return true;
    return false;
  }

  /** @param now Unix time in ms */
  verify(request: SignedRequest, now: number): Verification {
    const { items } = this.#scheme;
    return this.#verification(
      items === null ? this.#matchRequest(request, now, 'whole') : this.#matchItems(request, items, now),
    );
  }

  /** True if the signatures are in the body, so that nothing can be decided before it is read. */
  get needsBody(): boolean {
    return !this.#scheme.signedInHead;
  }

  /**
   * For a request whose body has not been read, and a scheme that does not need it: the rejection that `verify` returns for any
   * body; null if it may be authentic. @param now Unix time in ms
   */
  refuseByHead(request: SignedRequest, now: number): Refused | null {
    const found = this.#verification(this.#matchRequest(request, now, 'head'));
    return found.ok ? null : found;
  }

  #verification(result: number | VerifyReason): Verification {
    const scheme = this.#scheme.plan.name;
    return typeof result === 'number' ? { ok: true, scheme, secret: result } : { ok: false, scheme, reason: result };
  }

  /** Index of the secret that matched the last item, or why one of them is rejected. */
  #matchItems(request: SignedRequest, path: readonly string[], now: number): number | VerifyReason {
    let result: number | VerifyReason = missingReason(this.#scheme.plan);
    let count = 0;
    for (const [payload] of eachItem(request.payload(), path)) {
      count += 1;
      result = count > MAX_ITEMS ? 'too_many_parts' : this.#matchRequest(withPayload(request, payload), now, 'whole');
      if (typeof result === 'string') return result;
    }
    return result;
  }

  /** Index of the matching secret, or why none matched; any index if only the `head` is read and the body decides. */
  #matchRequest(request: SignedRequest, now: number, read: 'head' | 'whole'): number | VerifyReason {
    const { plan, primitive, hasRepeatedHeader } = this.#scheme;
    if (plan.never_with.length > 0 && carriesAny(plan.never_with, request)) return 'stronger_scheme';
    if (hasRepeatedHeader(request.rawHeaders)) return 'repeated_header';
    const signatures = readSignatures(plan, request);
    if (typeof signatures === 'string') return signatures;
    // A part that cannot be a signature is ignored: one valid signature is enough (decisions §4).
    const possible = signatures.filter(primitive.wellFormed);
    if (possible.length === 0) return 'malformed_signature';
    return possible.length > primitive.most ? 'too_many_parts' : this.#matchSignatures(request, possible, now, read);
  }

  #matchSignatures(
    request: SignedRequest,
    signatures: readonly string[],
    now: number,
    read: 'head' | 'whole',
  ): number | VerifyReason {
    const { plan, signsBody } = this.#scheme;
    if (read === 'head' && !isInHead(plan.timestamp?.at)) return 0;
    const timestamp = plan.timestamp === null ? NO_TEXT : readTimestamp(plan.timestamp, request);
    if (typeof timestamp === 'string') return timestamp;
    if (read === 'head' && signsBody) return 0;
    const window = plan.timestamp === null ? null : checkWindow(plan.timestamp, timestamp.text, now);
    if (window !== null && plan.timestamp?.after !== true) return window;
    if (read === 'head' && !isInHead(plan.id)) return 0;
    const id = plan.id === null ? NO_TEXT : readId(plan.id, request);
    if (typeof id === 'string') return id;
    const unbound = read === 'head' ? null : this.#checkBody(request);
    if (unbound !== null) return unbound;
    const matched = this.#matchSecrets({ request, timestamp: timestamp.text, id: id.text }, signatures, now);
    return typeof matched === 'string' ? matched : (window ?? matched);
  }

  /** Null if signed parts of the body can be read and a signed digest of the body matches; otherwise the reason. */
  #checkBody(request: SignedRequest): VerifyReason | null {
    const { plan, parsesBody } = this.#scheme;
    if (plan.body_hash !== null) return isBodyHash(plan.body_hash, request) ? null : 'body_mismatch';
    if (!parsesBody) return null;
    const readable = plan.signed.every(({ kind }) =>
      kind === 'params' ? request.form() !== null : kind !== 'json' || request.payload() !== undefined,
    );
    return readable ? null : 'unreadable_body';
  }

  #matchSecrets(input: Omit<ContentInput, 'base'>, signatures: readonly string[], now: number): number | VerifyReason {
    if (this.#bases.length === 0) return 'no_public_url';
    let usable = false;
    for (const base of this.#bases) {
      const { request, timestamp, id } = input;
      const content = this.#scheme.content({ request, timestamp, id, base });
      for (const secret of this.#secrets) {
        if (secret.checks.length === 0 || (secret.expires_at !== null && secret.expires_at <= now)) continue;
        usable = true;
        for (const check of secret.checks) if (check(content, signatures)) return secret.index;
      }
    }
    return usable ? 'mismatch' : 'unusable_secret';
  }
}

/** Compares names without punctuation: some proxies forward `X_Webhook_Signature` as a separate header. */
function carriesAny(names: readonly string[], { headers }: SignedRequest): boolean {
  return Object.keys(headers).some((name) => names.includes(name.toLowerCase().replace(/[^a-z0-9]/g, '')));
}

const NO_TEXT = { text: '' };

function isBodyHash({ at, hash, encoding }: NonNullable<SchemePlan['body_hash']>, request: SignedRequest): boolean {
  const text = readLocatedText(at, request) ?? '';
  const claimed = Buffer.from(encoding === 'hex' ? text.toLowerCase() : text, 'utf8');
  const actual = Buffer.from(createHash(hash).update(request.body).digest(encoding), 'utf8');
  return claimed.length === actual.length && timingSafeEqual(claimed, actual);
}

/** All signatures of the wanted version, at least one; otherwise the reason. */
function readSignatures(plan: SchemePlan, request: SignedRequest): readonly string[] | VerifyReason {
  let found: readonly string[] = [];
  let missing = missingReason(plan);
  for (const at of plan.signature) {
    const value = readLocatedText(at, request);
    if (value === null) continue;
    if (value.length > MAX_VALUE_LENGTH) return 'oversized_header';
    const parts = splitParts(at, value);
    if (typeof parts === 'string') return parts;
    if (parts.length === 0) missing = isOtherVersion(plan, at, value) ? 'unknown_version' : 'malformed_signature';
    found = found.length === 0 ? parts : [...found, ...parts];
  }
  if (found.length > MAX_PARTS) return 'too_many_parts';
  return found.length === 0 ? missing : found;
}

/** The reason for a request without a signature or token of this scheme. */
function missingReason({ verify }: SchemePlan): VerifyReason {
  return verify === 'token' || verify === 'basic' ? 'missing_credential' : 'missing_signature';
}

/** The signed id as Latin-1 text, which `crypto` converts back into the bytes on the wire. */
function readId(at: LocatorPlan, request: SignedRequest): { readonly text: string } | VerifyReason {
  const text = readLocatedText(at, request);
  if (text === null || text === '') return 'missing_id';
  if (text.length > MAX_VALUE_LENGTH) return 'oversized_header';
  if (at.in !== 'header') return { text: Buffer.from(text, 'utf8').toString('latin1') };
  // Node reads headers as Latin-1, so other characters cannot come from a header.
  return /^[\x00-\xff]*$/.test(text) ? { text } : 'missing_id';
}

/** Returns a check for repeated headers among those that the scheme reads: Node joins repeats or drops them. */
function repeatedHeaderFinder(plan: SchemePlan): (rawHeaders: readonly string[]) => boolean {
  const places = [...plan.signature, plan.timestamp?.at ?? null, plan.id, plan.body_hash?.at ?? null];
  const names = [...new Set(places.flatMap((at) => (at?.in === 'header' ? [at.name] : [])))];
  // The length of the name rules out most headers; length and last letter together rule out nearly all the rest.
  const lengths = names.reduce((mask, name) => mask | (1 << name.length), 0);
  const marks = names.map(markOf);
  return (rawHeaders) => {
    let seen = 0;
    for (let index = 0; index < rawHeaders.length; index += 2) {
      const raw = rawHeaders[index] ?? '';
      if ((lengths & (1 << raw.length)) === 0) continue;
      const at = marks.indexOf(markOf(raw));
      if (at < 0) continue;
      if ((seen & (1 << at)) !== 0) return isRepeated(names, rawHeaders);
      seen |= 1 << at;
    }
    return false;
  };
}

/** Length and last letter of a name, the same in lower and upper case. */
function markOf(name: string): number {
  return name.length * 256 + (name.charCodeAt(name.length - 1) | 0x20);
}

function isRepeated(names: readonly string[], rawHeaders: readonly string[]): boolean {
  const given = rawHeaders.filter((_text, index) => index % 2 === 0).map((name) => name.toLowerCase());
  return names.some((name) => given.indexOf(name) !== given.lastIndexOf(name));
}

/** True if a value without the wanted prefix contains a signature under another label (`v5=…` instead of `v1=…`). */
function isOtherVersion(plan: SchemePlan, at: LocatorPlan, value: string): boolean {
  const mark = at.prefix.at(-1);
  if (at.split === '' || mark === undefined) return false;
  const own = plan.timestamp?.at.prefix ?? '';
  return value
    .split(at.split, MAX_PARTS)
    .map((part) => part.trim())
    .some((part) => part.indexOf(mark) > 0 && !part.endsWith(mark) && (own === '' || !part.startsWith(own)));
}
