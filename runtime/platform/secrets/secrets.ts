/** The interface that turns secret references into secrets. */
import type { SecretRef } from '../../../schemas/generated/types.ts';

/**
 * Turns secret references of the table into secrets.
 */
export interface SecretResolver {
  /**
   * Returns the secret's text.
   * @param setting name of a setting whose value need not be a secret, for resolvers that check the values of secrets
   * @throws SecretError naming the reference (never its value) when it is missing or empty.
   */
  resolve(ref: SecretRef, setting?: string): string;
}

/**
 * A secret is missing, empty or refused. The message names the reference, never the value.
 */
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

/** The result of `read`; null when it throws a SecretError, whose message is added to `problems`. */
export function tryRead<T>(read: () => T, problems: string[]): T | null {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof SecretError)) throw error;
    problems.push(error.message);
    return null;
  }
}

/** A reference as the user wrote it; literals are never shown. */
export function printSecretRef(ref: SecretRef): string {
  return ref.kind === 'literal' ? 'a literal secret' : `${ref.kind}:${ref.value}`;
}
