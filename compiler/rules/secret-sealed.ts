/** A secret that this machine's key cannot decrypt. */

import { DEFAULT_PROFILE } from '../../base/profiles.ts';
import { isSealed } from '../../base/sealed-text.ts';
import type { Problem } from '../diagnostics/problem.ts';
import { parseSecretRef } from '../text/secret-ref.ts';
import type { ViewRule } from './support/view-rule.ts';

export const secretSealed = {
  id: 'secret-sealed',
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
              ...{ rule: 'secret-sealed', path, at: 'value', sensitive: true },
              message: 'this secret cannot be decrypted: it was encrypted with another `gateway.store.key`',
              hint: 'give this machine the key of the others, or subscribe anew',
            },
          ],
    );
  },
} as const satisfies ViewRule;
