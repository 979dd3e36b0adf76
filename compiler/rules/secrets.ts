/** Rules about secrets and signatures. */

import { DEFAULT_PROFILE } from '../../base/names.ts';
import { isLoopback } from '../../base/net.ts';
import { isSealed } from '../../base/secret-forms.ts';
import { agentSecrets, gatewaySecrets } from '../config/agents.ts';
import { targetNamed } from '../config/route-keys.ts';
import { platformPath, targetEntries } from '../config/target-entries.ts';
import type { Problem } from '../diagnostics/diagnostic.ts';
import type { SecretPlaceholder } from '../text/placeholders.ts';
import { MAKE_A_SECRET, placeholderIn, refusedValue } from '../text/placeholders.ts';
import { originOf } from '../text/plain-data.ts';
import { INSECURE_NO_AUTH, isSecretName, parseSecretRef, secretRefProblem } from '../text/secret-ref.ts';
import { isAsymmetric } from '../views/view-route.ts';
import type { Reporter, RouteScope } from '../views/views.ts';
import type { PlacedSecret } from './support/route-facts.ts';
import { writtenSecrets } from './support/route-facts.ts';
import { rule } from './support/rule.ts';

/** A deprecated signature scheme (§9.1). */
export const legacySignature = rule('legacy-signature', {
  route(route, report) {
    const [first] = route.schemes;
    if (route.insecure || first === undefined || route.schemes.some(({ deprecated }) => deprecated === null)) return;
    const path = route.config.source === undefined ? ['auth'] : ['source'];
    const message = `the route accepts only \`${first.name}\`: ${first.deprecated}`;
    report({ path, at: 'value', message });
  },
});

/** A signature over an unknown URL. */
export const missingPublicUrl = rule('missing-public-url', {
  route(route, report) {
    if (route.insecure || route.config.public_url !== undefined || route.scope.table.server.public_url !== null) return;
    const scheme = route.schemes.find(({ signed }) => signed.some(({ kind }) => kind === 'url'));
    if (scheme === undefined || route.config.source === undefined) return;
    const message = `\`${route.config.source}\` signs the URL; set \`public_url\` to the URL that the sender uses`;
    report({ path: ['source'], at: 'value', message });
  },
});

/** A public key where a shared secret is expected. */
export const publicKeyScheme = rule('public-key-scheme', {
  route(route, report) {
    if (route.config.public_key === undefined || route.schemes.every(isAsymmetric)) return;
    const shared = route.schemes.find((scheme) => !isAsymmetric(scheme))?.name ?? '';
    const message = `\`public_key\` needs a source with an asymmetric signature, and this route accepts \`${shared}\``;
    const hint = 'name the sender in `source`, or use `secret`';
    report({ path: ['public_key'], at: 'key', message, hint });
  },
});

/** Both `secret` and `secrets`. */
export const secretConflict = rule('secret-conflict', {
  route(route, report) {
    const { secret, secrets } = route.config;
    if (secret === undefined || secrets === undefined) return;
    const message = '`secret` and `secrets` exclude each other; put every accepted secret into `secrets`';
    const related = [{ path: ['secrets'], message: '`secrets` is here' }];
    report({ path: ['secret'], at: 'key', message, related });
  },
});

/** An invalid expiry of a secret. */
export const secretExpiry = rule('secret-expiry', {
  route(route, report) {
    for (const [index, secret] of (route.config.secrets ?? []).entries()) {
      const expires = typeof secret === 'string' ? undefined : secret.expires_at;
      if (expires === undefined || isInstant(expires)) continue;
      const message = `\`${expires}\` is not a valid date and time`;
      report({ path: ['secrets', index, 'expires_at'], at: 'value', message });
    }
  },
});

/** The schema has checked the form, but the parser would accept 31 February as a day in March. */
function isInstant(text: string): boolean {
  const ms = Date.parse(text);
  return Number.isFinite(ms) && new Date(ms).toISOString().slice(0, 19) === text.slice(0, 19);
}

/** The variable that is the secret of all routes without one. */
const IMPLICIT = 'WEBHOOK_SECRET';

/** A placeholder where a secret is expected. */
export const secretPlaceholder = rule('secret-placeholder', {
  route(route, report) {
    for (const secret of writtenSecrets(route))
      checkSecret(secret, route.scope, report, secret.path[0] !== 'verify_token');
  },
  config({ config, settings, overrides, scope, variables }, report) {
    const path = settings.pathOf('secret');
    const used = overrides.secret ? `env:${IMPLICIT}` : settings.values.secret;
    // A variable from elsewhere is reported at the key whose routes use it.
    const reportOwn: Reporter = (problem) => {
      const message = problem.message.replace(`\`${IMPLICIT}\``, `$&${originOf(IMPLICIT, variables)}`);
      report({ ...problem, message, at: path === null ? 'key' : problem.at });
    };
    const own = used === undefined ? [] : [{ path: path ?? ['platforms', 'webhook'], text: used }];
    const keys = gatewaySecrets(config.gateway).filter(({ kind }) => kind === 'key');
    for (const secret of [...own, ...keys]) {
      const place = { ref: parseSecretRef(secret.text, DEFAULT_PROFILE), path: secret.path };
      checkSecret(place, scope, secret === own[0] ? reportOwn : report, secret === own[0]);
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

/** An invalid reference to a secret. */
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

/** A secret that this machine's key cannot decrypt. */
export const secretSealed = rule('secret-sealed', {
  route(route, report) {
    for (const { ref, path } of writtenSecrets(route)) {
      if (ref.kind !== 'literal' || !isSealed(ref.value)) continue;
      const message = 'this secret cannot be decrypted: it was encrypted with another `gateway.store.key`';
      const hint = 'use the same key on all machines, or subscribe again';
      report({ path, at: 'value', message, hint, sensitive: true });
    }
  },
});

/** A literal secret that can be guessed. */
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

/** A source without signatures. */
export const unsignedSource = rule('unsigned-source', {
  route(route, report) {
    const { source } = route.config;
    if (route.insecure || source === undefined || route.schemes.length === 0) return;
    if (!route.schemes.every(({ verify }) => verify === 'none')) return;
    const message = `\`${source}\` does not sign its requests: all of them would be rejected`;
    const hint =
      'let a proxy that checks the sender sign them as `generic-v2`, or use INSECURE_NO_AUTH on a loopback host';
    report({ path: ['source'], at: 'value', message, hint });
  },
});
