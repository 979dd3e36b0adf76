/** Reads what a scheme needs from a request: the signatures and the id. */
import type { LocatorPlan, SchemePlan } from '../../schemas/generated/types.ts';
import { MAX_PARTS, MAX_VALUE_LENGTH, readLocatedText, splitParts } from './locator.ts';
import type { SignedRequest } from './request.ts';
import type { VerifyReason } from './verification.ts';

/** All signatures of the wanted version, at least one; otherwise the reason. */
export function readSignatures(plan: SchemePlan, request: SignedRequest): readonly string[] | VerifyReason {
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
export function missingReason({ verify }: SchemePlan): VerifyReason {
  return verify === 'token' || verify === 'basic' ? 'missing_credential' : 'missing_signature';
}

/** The signed id as Latin-1 text, which `crypto` converts back into the bytes on the wire. */
export function readId(at: LocatorPlan, request: SignedRequest): { readonly text: string } | VerifyReason {
  const text = readLocatedText(at, request);
  if (text === null || text === '') return 'missing_id';
  if (text.length > MAX_VALUE_LENGTH) return 'oversized_header';
  if (at.in !== 'header') return { text: Buffer.from(text, 'utf8').toString('latin1') };
  // Node reads headers as Latin-1, so other characters cannot come from a header.
  return /^[\x00-\xff]*$/.test(text) ? { text } : 'missing_id';
}

/** Returns a check for repeated headers among those that the scheme reads: Node joins repeats or drops them. */
export function repeatedHeaderFinder(plan: SchemePlan): (rawHeaders: readonly string[]) => boolean {
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
