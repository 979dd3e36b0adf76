/** Creates the view of a route that rules receive: resolves its names in a scope. */
import { DEFAULT_PROFILE, NO_AGENT, own } from '../../base/names.ts';
import type { RouteConfig, SchemePlan, SecretRef, SourceFacts } from '../../schemas/generated/types.ts';
import type { SenderEventNames } from '../config/route-keys.ts';
import { namedTargets } from '../config/route-keys.ts';
import type { TableContent } from '../config/settings.ts';
import { INSECURE_NO_AUTH, parseSecretRef } from '../text/secret-ref.ts';
import type { MachineFacts, RouteEntry, RouteScope, RouteSecretSource, RouteView } from './views.ts';

/** Resolves the names of a route in its scope. */
export function viewRoute({ name, config }: Pick<RouteEntry, 'name' | 'config'>, scope: RouteScope): RouteView {
  const { table } = scope;
  const profile = config.profile ?? DEFAULT_PROFILE;
  const schemes = schemesOf(config, table);
  const secrets = routeSecrets(config, table, schemes);
  return {
    name,
    config,
    scope,
    mode: modeOf(config),
    profile,
    profilePlan: own(table.profiles, profile) ?? null,
    targets: namedTargets(config.deliver, table.target_names),
    facts: factsOf(config, table),
    eventNames: eventNamesOf(schemes, table),
    schemes,
    ...labelsOf(config, table),
    secrets,
    insecure: secrets.some((secret) => isInsecure(secret.ref, scope.facts)),
  };
}

/** A name of an agent that does not exist is reported by `unknown-agent`. */
function modeOf({ cron_job, deliver_only, agent }: RouteConfig): RouteView['mode'] {
  if (cron_job !== undefined) return 'cron';
  if (deliver_only === true) return 'direct';
  return agent === NO_AGENT ? 'message' : 'agent';
}

/** Whether all accepted schemes verify with a public key. */
export const needsPublicKey = (config: RouteConfig, table: TableContent): boolean =>
  areAsymmetric(schemesOf(config, table));

/** Whether the scheme verifies with the sender's public key and not with a shared secret. */
export const isAsymmetric = (scheme: SchemePlan): boolean =>
  scheme.verify === 'ed25519' || scheme.verify === 'ecdsa-p256';

const areAsymmetric = (schemes: readonly SchemePlan[]): boolean => schemes.length > 0 && schemes.every(isAsymmetric);

function factsOf({ source }: RouteConfig, table: TableContent): SourceFacts | null {
  const scheme = source === undefined ? undefined : own(table.sources, source)?.scheme;
  return scheme === undefined ? null : (own(table.source_facts, scheme) ?? null);
}

/** If two senders use one name for different events, it matches both. */
function eventNamesOf(schemes: readonly SchemePlan[], { source_facts: facts }: TableContent): SenderEventNames {
  const names = schemes.flatMap(({ name }) => Object.entries(own(facts, name)?.event_names ?? {}));
  return Object.fromEntries(names);
}

const schemesOf = (config: RouteConfig, table: TableContent): SchemePlan[] =>
  acceptedSchemes(config, table).flatMap((scheme) => table.schemes[scheme] ?? []);

function acceptedSchemes(config: RouteConfig, table: TableContent): readonly string[] {
  if (config.source !== undefined) return own(table.sources, config.source)?.accepts ?? [];
  if (config.auth === undefined) return table.default_schemes;
  const named = new Set(config.auth.flatMap((name) => own(table.sources, name)?.scheme ?? []));
  const ordered = table.default_schemes.filter((scheme) => named.has(scheme));
  return [...ordered, ...[...named].filter((scheme) => !ordered.includes(scheme))];
}

/** The names of `source` and `auth` that are not canonical. */
function labelsOf({ source, auth }: RouteConfig, table: TableContent): Pick<RouteView, 'labels'> {
  const written: readonly string[] = source === undefined ? (auth ?? []) : [source];
  const labels = written
    .map((name) => [own(table.sources, name)?.scheme ?? name, name] as const)
    .filter(([scheme, name]) => scheme !== name);
  return labels.length === 0 ? {} : { labels: Object.fromEntries(labels) };
}

function routeSecrets(
  config: RouteConfig,
  table: TableContent,
  schemes: readonly SchemePlan[],
): readonly RouteSecretSource[] {
  const written: RouteSecretSource[] = [];
  const add = (text: string, path: readonly (string | number)[], expires: string | undefined = undefined): void => {
    const expires_at = expires === undefined ? null : Date.parse(expires);
    written.push({ ref: parseSecretRef(text, DEFAULT_PROFILE), expires_at, path });
  };
  if (config.public_key !== undefined) add(config.public_key, ['public_key']);
  if (config.secret !== undefined) add(config.secret, ['secret']);
  (config.secrets ?? []).forEach((secret, index) => {
    if (typeof secret === 'string') add(secret, ['secrets', index]);
    else add(secret.value, ['secrets', index, 'value'], secret.expires_at);
  });
  const inherited = table.server.secret;
  // A global secret is shared with senders that sign with it; it is not a public key.
  if (written.length > 0 || inherited === null || areAsymmetric(schemes)) return written;
  return [{ ref: inherited, expires_at: null, path: null }];
}

/** Also true if a variable contains the word, which must not be used as a secret that everyone knows. */
export function isInsecure(ref: SecretRef, facts: Pick<MachineFacts, 'variable'>): boolean {
  const value =
    ref.kind === 'env' ? facts.variable(ref.scope, ref.value) : ref.kind === 'literal' ? ref.value : undefined;
  return value === INSECURE_NO_AUTH;
}
