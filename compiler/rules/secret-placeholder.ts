/** A placeholder where a secret is expected. */

import { isLoopback } from '../../base/loopback.ts';
import { DEFAULT_PROFILE } from '../../base/profiles.ts';
import type { SecretRef } from '../../schemas/generated/types.ts';
import { agentSecrets } from '../config/agent-secrets.ts';
import { targetNamed } from '../config/deliveries.ts';
import { gatewaySecrets } from '../config/gateway-secrets.ts';
import { targetEntries } from '../config/target-entries.ts';
import type { NodePath, Problem } from '../diagnostics/problem.ts';
import type { RuleId } from '../diagnostics/rule.ts';
import type { SecretPlaceholder } from '../text/placeholder-in.ts';
import { MAKE_A_SECRET, placeholderIn, refusedValue } from '../text/placeholder-in.ts';
import { isSecretName } from '../text/secret-names.ts';
import { parseSecretRef } from '../text/secret-ref.ts';
import type { RouteScope } from '../views/route-scope.ts';
import type { ViewRule } from './support/view-rule.ts';

export const secretPlaceholder = {
  id: 'secret-placeholder',
  checkRoute({ config, secrets, scope }): readonly Problem[] {
    const { verify_token } = config;
    const token =
      verify_token === undefined ? [] : [{ text: verify_token, path: ['verify_token'], scope: DEFAULT_PROFILE }];
    const own = secrets.flatMap(({ ref, path }) => (path === null ? [] : [{ ref, path }]));
    return [...own, ...token.map(readRef)].flatMap((secret) => problemsOf('secret-placeholder', secret, scope));
  },
  checkConfig({ config, settings, overrides, scope }): readonly Problem[] {
    const path = settings.pathOf('secret') ?? ['platforms', 'webhook'];
    const used = overrides.secret ? 'env:WEBHOOK_SECRET' : settings.values.secret;
    const own = used === undefined ? [] : [{ path, text: used }];
    const keys = gatewaySecrets(config.gateway).filter(({ kind }) => kind === 'key');
    return [...own, ...keys].flatMap((secret) =>
      problemsOf('secret-placeholder', readRef({ ...secret, scope: DEFAULT_PROFILE }), scope),
    );
  },
  checkProfile({ name, config, scope }): readonly Problem[] {
    // The name decides whether a variable of the agent is a secret: `DEBUG: test` is not.
    const agent = agentSecrets(config.agent)
      .filter(({ path }) => path[1] === 'openai' || isSecretName(path[2] ?? ''))
      .map((secret) => ({ ...secret, scope: name }));
    const targets = targetEntries(config).flatMap(([written, entry]) =>
      Object.entries(entry).flatMap(([setting, value]) =>
        typeof value === 'string' && isCredential(written, setting, scope)
          ? [{ text: value, path: ['platforms', written, setting], scope: name }]
          : [],
      ),
    );
    return [...agent, ...targets].flatMap((secret) => problemsOf('secret-placeholder', readRef(secret), scope));
  },
} as const satisfies ViewRule;

interface WrittenSecret {
  readonly text: string;
  readonly path: NodePath;
  /** The profile whose environment resolves it. */
  readonly scope: string;
}

interface PlacedSecret {
  readonly ref: SecretRef;
  readonly path: NodePath;
}

const readRef = ({ text, path, scope }: WrittenSecret): PlacedSecret => ({ ref: parseSecretRef(text, scope), path });

/** Known settings are marked in the target's catalog entry; for others, the name decides. */
function isCredential(target: string, setting: string, { table }: RouteScope): boolean {
  const name = targetNamed(table.target_names, target);
  const known = name === null ? undefined : table.targets[name];
  const plan = known?.settings.find((one) => one.name === setting || one.aliases.includes(setting));
  return plan?.secret ?? isSecretName(setting);
}

/** A variable whose value is known is checked like a literal. */
function problemsOf(rule: RuleId, { ref, path }: PlacedSecret, scope: RouteScope): readonly Problem[] {
  if (ref.kind === 'literal') {
    const found = placeholderIn(ref.value);
    return found === null ? [] : [{ rule, path, at: 'value', sensitive: true, ...wordsFor(found) }];
  }
  const value = ref.kind === 'env' ? scope.facts.variable(ref.scope, ref.value) : undefined;
  const reason = value === undefined ? null : refusedValue(value, isLoopback(scope.table.server.host));
  if (reason === null) return [];
  return [{ rule, path, at: 'value', message: `the value of \`${ref.value}\` ${reason}`, hint: MAKE_A_SECRET }];
}

function wordsFor({ what, variable }: SecretPlaceholder): Pick<Problem, 'message' | 'hint' | 'fix'> {
  const isVariable = what.startsWith('this is not');
  if (variable !== null)
    return { message: what, hint: `write \`env:${variable}\``, fix: { kind: 'replace', text: `env:${variable}` } };
  if (isVariable) return { message: what, hint: 'write `env:NAME` for a variable, `file:path` for a file' };
  return { message: what, hint: `${MAKE_A_SECRET}, keep it in \`.env\`, and write \`env:NAME\`` };
}
