/** Keys of rows. Untrusted text may be too long for an index of PostgreSQL; then its digest replaces it. */
import { createHash } from 'node:crypto';
import type { ClaimKey } from '../../../../runtime/store/identity.ts';
import { claimKey } from '../../../../runtime/store/identity.ts';

/** Longest key that is stored unchanged, in UTF-16 units; an index row holds 2,700 bytes. */
const MAX_CHARS = 600;

/** Keys are JSON and start with `[`, so that no key can equal the digest of another. */
export const shortenedKey = (key: string): string =>
  key.length <= MAX_CHARS ? key : `sha256:${createHash('sha256').update(key).digest('hex')}`;

export const keyOfClaim = (claim: ClaimKey): string => shortenedKey(claimKey(claim));

export const keyOfGroup = (profile: string, route: string | null, key: string): string =>
  shortenedKey(JSON.stringify([profile, route ?? '', key]));

/** The group of a held dispatch: itself alone. Groups of events have keys of three parts. */
export const keyOfHold = (claim: ClaimKey): string => shortenedKey(JSON.stringify(['held', claimKey(claim)]));

export const keyOfTick = (job: string, dueAt: number): string => JSON.stringify([job, dueAt]);
