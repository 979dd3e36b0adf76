/** Secrets of explanations and dry runs, which show none. */
import type { SecretResolver } from '../../../../runtime/platform/secrets/secrets.ts';
import { printSecretRef } from '../../../../runtime/platform/secrets/secrets.ts';

export const NO_SECRETS: SecretResolver = {
  resolve: () => {
    throw new Error('no secret is looked for');
  },
};

/** For dry runs: a secret that is missing on this machine stands as its reference; it is not shown anyway. */
export function lenient(secrets: SecretResolver): SecretResolver {
  return {
    resolve(ref) {
      try {
        return secrets.resolve(ref);
      } catch {
        return printSecretRef(ref);
      }
    },
  };
}
