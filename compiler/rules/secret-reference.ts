/** An invalid reference to a secret. */

import { DEFAULT_PROFILE } from '../../base/profiles.ts';
import { agentSecrets } from '../config/agent-secrets.ts';
import { gatewaySecrets } from '../config/gateway-secrets.ts';
import { parseSecretRef, secretRefProblem } from '../text/secret-ref.ts';
import type { Reporter } from '../views/views.ts';
import { rule } from './support/rule.ts';
import type { PlacedSecret } from './support/written-secrets.ts';
import { writtenSecrets } from './support/written-secrets.ts';

export const secretReference = rule('secret-reference', {
  route(route, report) {
    for (const secret of writtenSecrets(route)) checkRef(secret, report);
  },
  profile({ name, config }, report) {
    for (const { path, text } of agentSecrets(config)) checkRef({ ref: parseSecretRef(text, name), path }, report);
  },
  config({ config, settings }, report) {
    const path = settings.pathOf('secret');
    const { secret } = settings.values;
    const own = secret === undefined || path === null ? [] : [{ path, text: secret }];
    for (const { path, text } of [...own, ...gatewaySecrets(config.gateway)]) {
      checkRef({ ref: parseSecretRef(text, DEFAULT_PROFILE), path }, report);
    }
  },
});

function checkRef({ ref, path }: PlacedSecret, report: Reporter): void {
  const message = secretRefProblem(ref);
  if (message !== null) report({ path, at: 'value', message });
}
