/** A secret that this machine's key cannot decrypt. */

import { DEFAULT_PROFILE } from '../../base/profiles.ts';
import { isSealed } from '../../base/sealed-text.ts';
import type { Problem } from '../diagnostics/problem.ts';
import { parseSecretRef } from '../text/secret-ref.ts';
import type { ViewRule } from './support/view-rule.ts';

export const secretSealed = {
  id: 'secret-sealed',
  group: 'secrets',
  severity: 'error',
  title: 'A secret is encrypted, and this machine does not have its key.',
  why: 'Subscriptions on PostgreSQL keep their secrets encrypted with `gateway.store.key`. With another key, or without one, signatures cannot be checked.',
  checkRoute({ config: { verify_token }, secrets }): readonly Problem[] {
    const token =
      verify_token === undefined
        ? []
        : [{ ref: parseSecretRef(verify_token, DEFAULT_PROFILE), path: ['verify_token'] }];
    return [...secrets, ...token].flatMap(({ ref, path }): readonly Problem[] =>
      path === null || ref.kind !== 'literal' || !isSealed(ref.value)
        ? []
        : [
            {
              ...{ rule: secretSealed, path, at: 'value', sensitive: true },
              message: 'this secret cannot be decrypted: it was encrypted with another `gateway.store.key`',
              hint: 'give this machine the key of the others, or subscribe anew',
            },
          ],
    );
  },
} as const satisfies ViewRule;
