/** A literal secret that can be guessed. */

import { DEFAULT_PROFILE } from '../../base/profiles.ts';
import type { SecretRef } from '../../schemas/generated/types.ts';
import { gatewaySecrets } from '../config/gateway-secrets.ts';
import type { NodePath, Problem } from '../diagnostics/problem.ts';
import type { RuleId } from '../diagnostics/rule.ts';
import { placeholderIn } from '../text/placeholder-in.ts';
import { INSECURE_NO_AUTH, parseSecretRef } from '../text/secret-ref.ts';
import type { ViewRule } from './support/view-rule.ts';

export const secretShort = {
  id: 'secret-short',
  checkRoute(route): readonly Problem[] {
    return route.secrets.flatMap(({ ref, path }): readonly Problem[] =>
      path === null ? [] : shortSecret('secret-short', ref, path),
    );
  },
  checkConfig({ config, settings, overrides }): readonly Problem[] {
    const path = settings.pathOf('secret');
    const { secret } = settings.values;
    const own = path === null || secret === undefined || overrides.secret ? [] : [{ path, text: secret }];
    const keys = gatewaySecrets(config.gateway).filter(({ kind }) => kind === 'key');
    return [...own, ...keys].flatMap(({ path, text }) =>
      shortSecret('secret-short', parseSecretRef(text, DEFAULT_PROFILE), path),
    );
  },
} as const satisfies ViewRule;

/** Minimum length of literal secrets, in code points. */
const MIN_LENGTH = 16;

/** Public keys are literals, too, but long enough. */
export function shortSecret(rule: RuleId, ref: SecretRef, path: NodePath): readonly Problem[] {
  const length = [...ref.value].length;
  if (ref.kind !== 'literal' || length >= MIN_LENGTH || ref.value === INSECURE_NO_AUTH) return [];
  // Reported by `secret-placeholder`.
  if (placeholderIn(ref.value) !== null) return [];
  const message = `this secret has ${length} characters; ${MIN_LENGTH} or more are hard to guess`;
  return [{ rule, path, at: 'value', message, hint: 'make one with `openssl rand -hex 32`', sensitive: true }];
}
