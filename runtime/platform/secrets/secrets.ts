/** The interface that turns secret references into secrets. */
import type { SecretRef } from '../../../schemas/generated/types.ts';

export interface SecretResolver {
  /**
   * Returns the secret's text.
   * @param setting name of a setting whose value need not be a secret, for resolvers that check the values of secrets
   * @throws SecretError naming the reference (never its value) when it is missing or empty.
   */
  resolve(ref: SecretRef, setting?: string): string;
}

export class SecretError extends Error {
  override readonly name = 'SecretError';
}

/** Returns the result of `read`. @throws what `explain` makes of the message of a SecretError */
export function explainSecrets<T>(read: () => T, explain: (reason: string) => Error): T {
  try {
    return read();
  } catch (error) {
    throw error instanceof SecretError ? explain(error.message) : error;
  }
}

/** A reference as the user wrote it; literals are never shown. */
export function printSecretRef(ref: SecretRef): string {
  return ref.kind === 'literal' ? 'a literal secret' : `${ref.kind}:${ref.value}`;
}
