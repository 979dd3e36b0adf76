/** The signature vectors as requests, for every test that sends them somewhere. */
import { readFileSync } from 'node:fs';
import type { RequestParts } from '../../runtime/verify/request.ts';

export interface Vector {
  readonly provider: string;
  readonly scheme: string;
  readonly description: string;
  readonly secret: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly url?: string;
  readonly method?: string;
  readonly valid: boolean;
  /** Unix seconds; absent if no timestamp is checked. */
  readonly now?: number;
  readonly reason?: string;
  readonly origin: string;
}

/** Collected from the providers' documentation and SDKs (`origin` says where). */
const COLLECTED = new URL('../runtime/verify/vectors.json', import.meta.url);
/**
 * Computed for this project by a separate program (one formula per provider, no plans), where the others leave a gap.
 */
const OWN = new URL('../runtime/verify/own/vectors.json', import.meta.url);

const load = (file: URL): Vector[] => JSON.parse(readFileSync(file, 'utf8'));

export const vectors: readonly Vector[] = [...load(COLLECTED), ...load(OWN)];

/** A vector as the server would see it; `public_url` is what the operator would configure. */
export function vectorRequest(vector: Vector): RequestParts & { readonly public_url: string | null } {
  const rawHeaders = Object.entries(vector.headers).flat();
  const url = vector.url ?? '/';
  const query = url.indexOf('?');
  return {
    method: vector.method ?? 'POST',
    url: query < 0 ? '/' : `/${url.slice(query)}`,
    headers: Object.fromEntries(Object.entries(vector.headers).map(([name, value]) => [name.toLowerCase(), value])),
    rawHeaders,
    body: Buffer.from(vector.body, 'utf8'),
    public_url: vector.url ?? null,
  };
}

/** The reasons that the verifier may give for the change that a vector describes. */
export const STATED_REASONS: Readonly<Record<string, readonly string[]>> = {
  'wrong-secret': ['mismatch', 'unusable_secret'],
  'tampered-body': ['mismatch', 'body_mismatch'],
  'tampered-timestamp': ['mismatch'],
  'tampered-id': ['mismatch'],
  'wrong-url': ['mismatch'],
  'wrong-method': ['mismatch'],
  'altered-credential': ['mismatch'],
  mismatch: ['mismatch'],
  downgrade: ['mismatch'],
  'stale-timestamp': ['stale_timestamp'],
  'future-timestamp': ['future_timestamp'],
  'bad-timestamp': ['bad_timestamp'],
  'ambiguous-timestamp': ['ambiguous_timestamp'],
  'malformed-signature': ['malformed_signature', 'bad_timestamp'],
  'non-canonical-encoding': ['malformed_signature'],
  'unknown-version': ['unknown_version'],
  'missing-signature': ['missing_signature'],
  'missing-credential': ['missing_credential'],
  'missing-header': ['missing_signature', 'missing_id', 'missing_timestamp'],
};
