/**
 * Links the authentication and identity of a route's requests: secrets, schemes and handshakes, and the paths of event type and
 * delivery id.
 */
import { createHmac } from 'node:crypto';
import type { RoutePlan, SchemePlan, SecretRef } from '../../schemas/generated/types.ts';
import type { SecretResolver } from '../platform/secrets.ts';
import { printSecretRef, tryRead } from '../platform/secrets.ts';
import type { Authenticator } from '../verify/authenticator.ts';
import { linkAuthenticator } from '../verify/authenticator.ts';
import { linkHandshake, linkSecretCheck } from '../verify/handshake.ts';
import type { SecretText } from '../verify/scheme.ts';
import type { LinkContext, TableHeadPlan } from './link-context.ts';
import { LinkError, routePaths, schemeOf } from './link-context.ts';
import type { LinkedRoute } from './linked-table.ts';

/** Means "no authentication" also as the value of a reference: as a signing key it would be known to everyone. */
const INSECURE_NO_AUTH = 'INSECURE_NO_AUTH';

export type Authentication = Pick<
  LinkedRoute,
  'authenticator' | 'insecure' | 'handshake' | 'awaitsSecret' | 'deprecated' | 'evidence'
>;

/**
 * @throws LinkError if secrets are missing, a secret is unusable as a key, or authentication is off and the host is not
 * loopback.
 */
export function linkAuthentication(plan: RoutePlan, table: TableHeadPlan, context: LinkContext): Authentication {
  const schemes = plan.schemes.map((name) => schemeOf(name, plan, table));
  const { secrets, verifyToken } = resolveSecrets(plan, context.secrets);
  const insecure = plan.insecure || secrets.some(({ text }) => text === INSECURE_NO_AUTH);
  if (insecure && !context.loopback) {
    throw new LinkError(
      `route "${plan.name}": ${INSECURE_NO_AUTH} is allowed only if the host is a loopback address, without public_url and trusted_proxies`,
    );
  }
  if (!insecure && secrets.length === 0) throw new LinkError(`route "${plan.name}": no secret`);
  const url = publicUrl(plan, table);
  const parts = { schemes, secrets, insecure, public_url: url };
  const authenticator = linkAuthenticator(parts, context.linkScheme);
  refuseUnusable(plan, authenticator);
  return {
    authenticator,
    insecure,
    ...handshakesOf(plan, { secrets, verifyToken }, table, context),
    deprecated: deprecatedOf(schemes),
    evidence: () => ({
      schemes,
      labels: plan.labels,
      known: Object.values(table.schemes),
      secrets,
      publicUrl: url,
    }),
  };
}

const NONE_DEPRECATED: LinkedRoute['deprecated'] = new Map();

function deprecatedOf(schemes: readonly SchemePlan[]): LinkedRoute['deprecated'] {
  const deprecated = schemes.flatMap(({ name, deprecated }) =>
    deprecated === null ? [] : [[name, deprecated] as const],
  );
  return deprecated.length === 0 ? NONE_DEPRECATED : new Map(deprecated);
}

function refuseUnusable(plan: RoutePlan, { unusable }: Authenticator): void {
  const [first] = unusable;
  const secret = first === undefined ? undefined : plan.secrets[first];
  if (secret === undefined) return;
  const schemes = plan.schemes.join(', ');
  throw new LinkError(`route "${plan.name}": ${printSecretRef(secret.ref)} is not a valid key for ${schemes}`);
}

/** Handshakes use the current secret, which is the first. */
function handshakesOf(
  plan: RoutePlan,
  { secrets, verifyToken }: RouteSecrets,
  table: TableHeadPlan,
  context: LinkContext,
): Pick<LinkedRoute, 'handshake' | 'awaitsSecret'> {
  if (plan.source === null) return NO_HANDSHAKES;
  const scheme = schemeOf(plan.source, plan, table);
  const capture = context.capture?.(plan) ?? null;
  return {
    handshake: linkHandshake(scheme, { secret: secrets[0]?.text ?? null, verifyToken, capture }),
    awaitsSecret: linkSecretCheck(scheme, capture),
  };
}

const NO_HANDSHAKES = { handshake: null, awaitsSecret: null };

interface RouteSecrets {
  readonly secrets: readonly SecretText[];
  readonly verifyToken: string | null;
}

/** A derived one is 64 hexadecimal digits that only a holder of the secret can compute. */
export const verifyingSecret = (secret: string, derived?: true): string =>
  derived ? createHmac('sha256', secret).update('hookwright callbacks').digest('hex') : secret;

/** @throws LinkError that names every reference of the route that cannot be resolved */
function resolveSecrets(plan: RoutePlan, resolver: SecretResolver): RouteSecrets {
  const problems: string[] = [];
  const resolve = (ref: SecretRef): string => tryRead(() => resolver.resolve(ref), problems) ?? '';
  const refs = plan.insecure ? [] : plan.secrets;
  const secrets = refs.map(({ ref, expires_at, derived }) => {
    return { text: verifyingSecret(resolve(ref), derived), expires_at };
  });
  const token = plan.source === null ? null : plan.verify_token;
  const verifyToken = token === null ? null : resolve(token);
  if (problems.length === 0) return { secrets, verifyToken };
  throw new LinkError(`route "${plan.name}": ${[...new Set(problems)].join('; ')}`);
}

/** The route's own public URL, or the server's with the route's path; null if neither is set. */
function publicUrl(plan: RoutePlan, { server, gateway }: TableHeadPlan): string | null {
  if (plan.public_url !== null || server.public_url === null) return plan.public_url;
  const [path] = routePaths(plan, gateway.multiplex_profiles);
  return path === undefined ? null : server.public_url.replace(/\/+$/, '') + path;
}
