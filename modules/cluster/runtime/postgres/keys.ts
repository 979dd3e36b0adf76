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
