/** Keys of rows. What a stranger can choose may be longer than PostgreSQL takes into an index: then its digest stands for it. */
import { createHash } from 'node:crypto';
import type { ClaimKey } from '../identity.ts';
import { claimKey } from '../identity.ts';

/** Characters of a key that is stored as it is; an index row holds 2,700 bytes. */
const MAX_CHARS = 600;

/** JSON begins with `[`, so that no other text can be the digest of one. */
export const shortenedKey = (key: string): string =>
  key.length <= MAX_CHARS ? key : `sha256:${createHash('sha256').update(key).digest('hex')}`;

export const keyOfClaim = (claim: ClaimKey): string => shortenedKey(claimKey(claim));

export const keyOfGroup = (profile: string, route: string | null, key: string): string =>
  shortenedKey(JSON.stringify([profile, route ?? '', key]));

export const keyOfTick = (job: string, dueAt: number): string => JSON.stringify([job, dueAt]);
