/** Turns secret references into secrets: from the process environment, a profile's .env or a file. */
import type { SecretRef } from '../../../schemas/generated/types.ts';

export interface SecretResolver {
  /**
   * The secret's text.
   * @param setting the name of a setting or variable that need not be a secret, for a resolver that refuses what can be none
   * @throws SecretError naming the reference (never its value) when it is missing or empty.
   */
  resolve(ref: SecretRef, setting?: string): string;
}

export class SecretError extends Error {
  override readonly name = 'SecretError';
}

/** A reference as the user wrote it; literals are never shown. */
export function printSecretRef(ref: SecretRef): string {
  return ref.kind === 'literal' ? 'a literal secret' : `${ref.kind}:${ref.value}`;
}
