/** The scope that routes are checked and lowered against, and the view of a route that route rules receive. */
import { DEFAULT_PROFILE } from '../../base/profiles.ts';
import type { FieldClass } from '../../modules/payloads/compiler/shapes/classify.ts';
import type { FormSet } from '../../modules/payloads/compiler/shapes/form-set.ts';
import type {
  Place,
  ProfilePlan,
  RouteConfig,
  SchemePlan,
  SecretRef,
  SourceFacts,
  TargetEffect,
} from '../../schemas/generated/types.ts';
import type { WrittenTarget } from '../config/deliveries.ts';
import { targetNamed, writtenTargets } from '../config/deliveries.ts';
import type { SenderEventNames } from '../config/event-names.ts';
import type { TableContent } from '../config/table-content.ts';
import type { Problem } from '../diagnostics/problem.ts';
import { INSECURE_NO_AUTH, parseSecretRef } from '../text/secret-ref.ts';
import type { MachineFacts } from './machine-facts.ts';

export interface RouteEntry {
  readonly name: string;
  readonly config: RouteConfig;
  readonly at: Place;
}

export interface RouteScope {
  /** The table, without routes or with other ones: settings, profiles, targets, sources, jobs. */
  readonly table: TableContent;
  readonly facts: MachineFacts;
  /** Facts about payloads; null if shapes are unavailable, as in a running gateway. */
  readonly payloads: Payloads | null;
  /**
   * Names whose definitions have errors, as `<kind>:<name>` (`job:`, `target:`, `source:`, `setting:`, `profile:`). They are
   * not in the table, but this must not be reported again. A `route:` has a misspelt key, perhaps one that it seems to lack.
   */
  readonly invalidNames: ReadonlySet<string>;
}

export type RouteMode = 'agent' | 'direct' | 'cron';

/** A target of the route; `target` is null if the name is unknown. */
export interface RouteTarget extends WrittenTarget {
  readonly target: string | null;
}

/** A secret of the route, and its path in the route; the path is null if the secret is inherited. */
export interface RouteSecretSource {
  readonly ref: SecretRef;
  readonly expires_at: number | null;
  readonly path: readonly (string | number)[] | null;
}

export interface RouteView {
  readonly name: string;
  readonly config: RouteConfig;
  readonly scope: RouteScope;
  readonly mode: RouteMode;
  readonly profile: string;
  /** Null if the profile is not in the table. */
  readonly profilePlan: ProfilePlan | null;
  readonly targets: readonly RouteTarget[];
  /** Facts about the sender, if the route has `source`. */
  readonly facts: SourceFacts | null;
  /** Alternative event names of all possible senders. */
  readonly eventNames: SenderEventNames;
  /** The schemes that the route accepts, in order of precedence, without unknown ones. */
  readonly schemes: readonly SchemePlan[];
  readonly secrets: readonly RouteSecretSource[];
  /** A secret is INSECURE_NO_AUTH, which disables signature checks. */
  readonly insecure: boolean;
}

/** Resolves the names of a route in its scope. */
export function viewRoute({ name, config }: RouteEntry, scope: RouteScope): RouteView {
  const { table } = scope;
  const profile = config.profile ?? DEFAULT_PROFILE;
  const schemes = schemesOf(config, table);
  const secrets = routeSecrets(config, table, schemes);
  return {
    name,
    config,
    scope,
    mode: config.cron_job !== undefined ? 'cron' : config.deliver_only === true ? 'direct' : 'agent',
    profile,
    profilePlan: own(table.profiles, profile),
    targets: writtenTargets(config.deliver).map((written) => ({
      ...written,
      target: targetNamed(table.target_names, written.name),
    })),
    facts: factsOf(config, table),
    eventNames: eventNamesOf(schemes, table),
    schemes,
    secrets,
    insecure: secrets.some((secret) => isInsecure(secret.ref, scope.facts)),
  };
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
  return scheme === undefined ? null : own(table.source_facts, scheme);
}

/** If two senders use one name for different events, it stands for both. */
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

const own = <T>(map: Readonly<Record<string, T>>, key: string): T | null =>
  Object.hasOwn(map, key) ? (map[key] ?? null) : null;

/** Facts about the payloads of routes; see payloads/payloads.ts. */
export interface Payloads {
  /** The problems that payload rules find in a route. */
  problemsOf(route: RouteView): readonly Problem[];
  /**
   * The event forms that pass the route's filters, whose payloads its templates see. Null if they are unknown, or if a script
   * may replace the payload.
   */
  seenBy(route: RouteView): FormSet | null;
  /** The class of a placeholder in the route's templates. @param path empty for the whole payload */
  classOf(route: RouteView, path: readonly string[]): FieldClass;
  /** Events in the shape of the route's source; empty if there are none, or if one shape applies to all events. */
  shapedEvents(route: RouteView): readonly string[];
  /** The only source that documents this event, among those whose signatures the route accepts. */
  senderOf(route: RouteView, event: string): string | null;
  /** Whether payloads of this event have the path. False if the route names no source, or if the shape is unknown. */
  hasPath(route: RouteView, event: string, path: readonly string[]): boolean;
  /** Whether the route may receive an event that a delivery causes, regardless of filters on its author. */
  mayReceive(route: RouteView, effect: TargetEffect): boolean;
  readonly effects: Effects;
}

/** Effects of runs and deliveries. */
export interface Effects {
  /** Whether a run with this toolset can change things outside its answer. True for unknown toolsets. */
  acts(toolset: string): boolean;
  /** Events that senders send because of a delivery. @param target canonical name */
  causedBy(target: string): readonly TargetEffect[];
}
