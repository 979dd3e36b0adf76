/** A literal secret that can be guessed. */

import { DEFAULT_PROFILE } from '../../base/profiles.ts';
import { gatewaySecrets } from '../config/gateway-secrets.ts';
import { placeholderIn } from '../text/placeholder-in.ts';
import { INSECURE_NO_AUTH, parseSecretRef } from '../text/secret-ref.ts';
import type { Reporter } from '../views/views.ts';
import { rule } from './support/rule.ts';
import type { PlacedSecret } from './support/written-secrets.ts';

export const secretShort = rule('secret-short', {
  route(route, report) {
    for (const { ref, path } of route.secrets) if (path !== null) checkLength({ ref, path }, report);
  },
  config({ config, settings, overrides }, report) {
    const path = settings.pathOf('secret');
    const { secret } = settings.values;
    const own = path === null || secret === undefined || overrides.secret ? [] : [{ path, text: secret }];
    const keys = gatewaySecrets(config.gateway).filter(({ kind }) => kind === 'key');
    for (const { path, text } of [...own, ...keys]) {
      checkLength({ ref: parseSecretRef(text, DEFAULT_PROFILE), path }, report);
    }
  },
});

/** Minimum length of literal secrets, in code points. */
const MIN_LENGTH = 16;

/** Public keys are literals, too, but long enough. */
function checkLength({ ref, path }: PlacedSecret, report: Reporter): void {
  const length = [...ref.value].length;
  if (ref.kind !== 'literal' || length >= MIN_LENGTH || ref.value === INSECURE_NO_AUTH) return;
  // Reported by `secret-placeholder`.
  if (placeholderIn(ref.value) !== null) return;
  const message = `this secret has ${length} characters; ${MIN_LENGTH} or more are hard to guess`;
  report({ path, at: 'value', message, hint: 'make one with `openssl rand -hex 32`', sensitive: true });
}
