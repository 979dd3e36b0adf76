/** A resolver that refuses placeholders of secrets in values that only the serving machine can see. */
import { isLoopback } from '../../base/loopback.ts';
import { MAKE_A_SECRET, refusedValue } from '../../compiler/text/placeholder-in.ts';
import { isSecretName } from '../../compiler/text/secret-names.ts';
import type { SecretResolver } from '../../runtime/platform/secrets/secrets.ts';
import { printSecretRef, SecretError } from '../../runtime/platform/secrets/secrets.ts';
import type { SecretRef } from '../../schemas/generated/types.ts';

/**
 * The rule `secret-placeholder`, for what the compiler did not see: files, variables of this machine, tables by hand.
 * @param host what the server listens on
 */
export function refusePlaceholders(secrets: SecretResolver, host: string): SecretResolver {
  return {
    resolve(ref, setting) {
      const value = secrets.resolve(ref, setting);
      if (setting !== undefined && !isSecretName(setting)) return value;
      const reason = reasonFor(ref, value, isLoopback(host));
      if (reason === null) return value;
      throw new SecretError(`the value of ${printSecretRef(ref)} ${reason}; ${MAKE_A_SECRET}`);
    },
  };
}

function reasonFor({ kind }: SecretRef, value: string, loopback: boolean): string | null {
  // A literal from an example is refused anywhere.
  return refusedValue(value, loopback && kind !== 'literal');
}
