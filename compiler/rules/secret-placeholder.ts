/** A placeholder where a secret is expected. */

import { isLoopback } from '../../base/listen-address.ts';
import { DEFAULT_PROFILE } from '../../base/profiles.ts';
import { agentSecrets } from '../config/agent-secrets.ts';
import { targetNamed } from '../config/deliveries.ts';
import { gatewaySecrets } from '../config/gateway-secrets.ts';
import { platformPath, targetEntries } from '../config/target-entries.ts';
import type { Problem } from '../diagnostics/problem.ts';
import type { SecretPlaceholder } from '../text/placeholder-in.ts';
import { MAKE_A_SECRET, placeholderIn, refusedValue } from '../text/placeholder-in.ts';
import { isSecretName } from '../text/secret-names.ts';
import { INSECURE_NO_AUTH, parseSecretRef } from '../text/secret-ref.ts';
import type { Reporter, RouteScope } from '../views/views.ts';
import { rule } from './support/rule.ts';
import type { PlacedSecret } from './support/written-secrets.ts';
import { writtenSecrets } from './support/written-secrets.ts';

export const secretPlaceholder = rule('secret-placeholder', {
  route(route, report) {
    for (const secret of writtenSecrets(route))
      checkSecret(secret, route.scope, report, secret.path[0] !== 'verify_token');
  },
  config({ config, settings, overrides, scope }, report) {
    const path = settings.pathOf('secret') ?? ['platforms', 'webhook'];
    const used = overrides.secret ? 'env:WEBHOOK_SECRET' : settings.values.secret;
    const own = used === undefined ? [] : [{ path, text: used }];
    const keys = gatewaySecrets(config.gateway).filter(({ kind }) => kind === 'key');
    for (const { path, text } of [...own, ...keys]) {
      checkSecret({ ref: parseSecretRef(text, DEFAULT_PROFILE), path }, scope, report, own[0]?.path === path);
    }
  },
  profile({ name, config, scope }, report) {
    // The name decides whether a variable of the agent is a secret: `DEBUG: test` is not.
    const agent = agentSecrets(config).filter(({ variable }) => variable === null || isSecretName(variable));
    const targets = targetEntries(config).flatMap(([written, entry]) =>
      Object.entries(entry).flatMap(([setting, value]) =>
        typeof value === 'string' && isCredential(written, setting, scope)
          ? [{ text: value, path: platformPath(written, [setting]) }]
          : [],
      ),
    );
    for (const { path, text } of [...agent, ...targets]) {
      checkSecret({ ref: parseSecretRef(text, name), path }, scope, report, false);
    }
  },
});

/** Known settings are marked in the target's catalog entry; for others, the name decides. */
function isCredential(target: string, setting: string, { table }: RouteScope): boolean {
  const name = targetNamed(table.target_names, target);
  const known = name === null ? undefined : table.targets[name];
  const plan = known?.settings.find((one) => one.name === setting || one.aliases.includes(setting));
  return plan?.secret ?? isSecretName(setting);
}

/**
 * A variable whose value is known is checked like a literal.
 * @param signs whether it could be INSECURE_NO_AUTH: the secret of requests, not a credential
 */
function checkSecret({ ref, path }: PlacedSecret, scope: RouteScope, report: Reporter, signs: boolean): void {
  if (ref.kind === 'literal') {
    const found = placeholderIn(ref.value, signs);
    if (found !== null) report({ path, at: 'value', sensitive: true, ...wordsFor(found) });
    return;
  }
  const value = ref.kind === 'env' ? scope.facts.variable(ref.scope, ref.value) : undefined;
  const reason = value === undefined ? null : refusedValue(value, isLoopback(scope.table.server.host), signs);
  if (reason === null) return;
  report({ path, at: 'value', message: `the value of \`${ref.value}\` ${reason}`, hint: MAKE_A_SECRET });
}

function wordsFor({ kind, what, variable }: SecretPlaceholder): Pick<Problem, 'message' | 'hint' | 'fix'> {
  if (variable === null) return { message: what, hint: HINTS[kind] };
  return { message: what, hint: `write \`env:${variable}\``, fix: { kind: 'replace', text: `env:${variable}` } };
}

const REFER = 'write `env:NAME` for a variable, `file:path` for a file';
const MAKE = `${MAKE_A_SECRET}, keep it in \`.env\`, and write \`env:NAME\``;
const HINTS: Readonly<Record<SecretPlaceholder['kind'], string>> = {
  variable: REFER,
  reference: `${REFER}; let the other tool set the variable or write the file`,
  'stand-in': MAKE,
  guessable: MAKE,
  quoted: 'remove the inner quotes',
  'no-auth': `write \`${INSECURE_NO_AUTH}\` to accept unsigned requests on a loopback address, or ${MAKE}`,
};
