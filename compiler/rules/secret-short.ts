/** A literal secret that can be guessed. */
import type { SecretRef } from '../../schemas/generated/types.ts';
import type { NodePath, Problem } from '../diagnostics/problem.ts';
import { DEFAULT_PROFILE } from '../routes/route-scope.ts';
import { placeholderIn } from '../source/placeholder-in.ts';
import { INSECURE_NO_AUTH, parseSecretRef } from '../text/secret-ref.ts';
import type { Rule } from './support/rule.ts';

export const secretShort: Rule = {
  id: 'secret-short',
  severity: 'warning',
  title: 'A signing secret is shorter than 16 characters.',
  why: 'Whoever sees one signed request can try secrets against it for as long as he likes; short ones are found.',
  checkRoute(route) {
    return route.secrets.flatMap(({ ref, path }): readonly Problem[] =>
      path === null ? [] : shortSecret(this.id, ref, path),
    );
  },
  checkConfig({ settings, overrides }) {
    const path = settings.pathOf('secret');
    const { secret } = settings.values;
    if (path === null || secret === undefined || overrides.secret) return [];
    return shortSecret(this.id, parseSecretRef(secret, DEFAULT_PROFILE), path);
  },
};

/** Code points a literal secret should have at least. */
const MIN_LENGTH = 16;

/** Public keys are literals as well, and long ones. */
export function shortSecret(rule: string, ref: SecretRef, path: NodePath): readonly Problem[] {
  const length = [...ref.value].length;
  if (ref.kind !== 'literal' || length >= MIN_LENGTH || ref.value === INSECURE_NO_AUTH) return [];
  // Said by `secret-placeholder`.
  if (placeholderIn(ref.value) !== null) return [];
  const message = `this secret has ${length} characters; ${MIN_LENGTH} or more are hard to guess`;
  return [{ rule, path, at: 'value', message, hint: 'make one with `openssl rand -hex 32`', sensitive: true }];
}
