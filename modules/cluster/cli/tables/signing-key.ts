/** `--sign-with`: the private key with which CI signs tables. */

import { DEFAULT_PROFILE } from '../../../../base/profiles.ts';
import type { CliContext } from '../../../../cli/base/context.ts';
import { CliError } from '../../../../cli/base/errors.ts';
import { text } from '../../../../cli/command-line/command.ts';
import { parseSecretRef } from '../../../../compiler/text/secret-ref.ts';
import { createSecrets } from '../../../../runtime/platform/secrets/machine-secrets.ts';
import { SecretError } from '../../../../runtime/platform/secrets/secrets.ts';

export const signWithOption = text('ref', 'Private key (Ed25519, PKCS#8 PEM), as env:NAME or file:path');

/** Returns the PEM; null: the option is not given. @throws CliError when the reference leads to none */
export function signingKey(context: CliContext, reference: string | undefined): string | null {
  if (reference === undefined) return null;
  const ref = parseSecretRef(reference, DEFAULT_PROFILE);
  // A key in the arguments is seen by every process of the machine.
  if (ref.kind === 'literal') throw new CliError('--sign-with takes a reference', 'env:NAME or file:path');
  try {
    return createSecrets(context).resolve(ref);
  } catch (error) {
    if (error instanceof SecretError) throw new CliError(`--sign-with: ${error.message}`);
    throw error;
  }
}
