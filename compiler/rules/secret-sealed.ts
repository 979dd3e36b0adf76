/** A secret that this machine's key cannot decrypt. */

import { isSealed } from '../../base/sealed-text.ts';
import { rule } from './support/rule.ts';
import { writtenSecrets } from './support/written-secrets.ts';

export const secretSealed = rule('secret-sealed', {
  route(route, report) {
    for (const { ref, path } of writtenSecrets(route)) {
      if (ref.kind !== 'literal' || !isSealed(ref.value)) continue;
      const message = 'this secret cannot be decrypted: it was encrypted with another `gateway.store.key`';
      const hint = 'give this machine the key of the others, or subscribe anew';
      report({ path, at: 'value', message, hint, sensitive: true });
    }
  },
});
