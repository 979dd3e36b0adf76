/** An invalid reference to a secret. */

import { DEFAULT_PROFILE } from '../../base/profiles.ts';
import { agentSecrets } from '../config/agent-secrets.ts';
import { gatewaySecrets } from '../config/gateway-secrets.ts';
import type { Problem } from '../diagnostics/problem.ts';
import { parseSecretRef, secretRefProblem } from '../text/secret-ref.ts';
import type { ViewRule } from './support/view-rule.ts';

export const secretReference = {
  id: 'secret-reference',
  checkRoute(route): readonly Problem[] {
    const { verify_token } = route.config;
    const token =
      verify_token === undefined
        ? []
        : [{ ref: parseSecretRef(verify_token, DEFAULT_PROFILE), path: ['verify_token'] }];
    return [...route.secrets, ...token].flatMap(({ ref, path }): readonly Problem[] => {
      const message = path === null ? null : secretRefProblem(ref);
      return message === null || path === null ? [] : [{ rule: 'secret-reference', path, at: 'value', message }];
    });
  },
  checkProfile({ name, config }): readonly Problem[] {
    return agentSecrets(config.agent).flatMap(({ path, text }): readonly Problem[] => {
      const message = secretRefProblem(parseSecretRef(text, name));
      return message === null ? [] : [{ rule: 'secret-reference', path, at: 'value', message }];
    });
  },
  checkConfig({ config, settings }): readonly Problem[] {
    const path = settings.pathOf('secret');
    const { secret } = settings.values;
    const own = secret === undefined || path === null ? [] : [{ path, text: secret }];
    return [...own, ...gatewaySecrets(config.gateway)].flatMap(({ path, text }): readonly Problem[] => {
      const message = secretRefProblem(parseSecretRef(text, DEFAULT_PROFILE));
      return message === null ? [] : [{ rule: 'secret-reference', path, at: 'value', message }];
    });
  },
} as const satisfies ViewRule;
