/** What a route is checked and lowered against, and the route seen in that light: the input of every route rule. */
import { DEFAULT_PROFILE } from '../../base/profiles.ts';
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
import type { FieldClass } from '../shapes/classify.ts';
import type { FormSet } from '../shapes/form-set.ts';
import { INSECURE_NO_AUTH, parseSecretRef } from '../text/secret-ref.ts';
import type { MachineFacts } from './machine-facts.ts';

export interface RouteEntry {
  readonly name: string;
  readonly config: RouteConfig;
  readonly at: Place;
}

export interface RouteScope {
  /** The table without (or with other) routes: settings, profiles, targets, sources, jobs. */
  readonly table: TableContent;
  readonly facts: MachineFacts;
  /** What is known of payloads; null: the shapes are not there, as in a running gateway. */
  readonly payloads: Payloads | null;
  /**
   * Names with an error of their own, as `<kind>:<name>` (`job:`, `target:`, `source:`, `setting:`, `profile:`): that they
   * are not in the table has been said already. A `route:` has a misspelt key: what it seems to lack may be that.
   */
  readonly unsure: ReadonlySet<string>;
}

export type RouteMode = 'agent' | 'direct' | 'cron';

/** A target of the route; `target` is null when nothing has that name. */
export interface RouteTarget extends WrittenTarget {
  readonly target: string | null;
}

/** A secret of the route, and the key of the route it is written under; null: inherited. */
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
  /** null: no such profile in the table. */
  readonly profilePlan: ProfilePlan | null;
  readonly targets: readonly RouteTarget[];
  /** What is known of the sender of a route with `source`. */
  readonly facts: SourceFacts | null;
  /** Further names of the events of all senders that may come. */
  readonly eventNames: SenderEventNames;
  /** Schemes the route accepts, by canonical name, in the order they commit; those that exist. */
  readonly schemes: readonly SchemePlan[];
  readonly secrets: readonly RouteSecretSource[];
  /** A secret is INSECURE_NO_AUTH: validation is off. */
  readonly insecure: boolean;
}

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

/** Whether nothing but a public key verifies what the sender of such a route signs. */
export const needsPublicKey = (config: RouteConfig, table: TableContent): boolean =>
  areAsymmetric(schemesOf(config, table));

/** The sender's public key is what verifies: a shared secret is of no use. */
export const isAsymmetric = (scheme: SchemePlan): boolean =>
  scheme.verify === 'ed25519' || scheme.verify === 'ecdsa-p256';

const areAsymmetric = (schemes: readonly SchemePlan[]): boolean => schemes.length > 0 && schemes.every(isAsymmetric);

function factsOf({ source }: RouteConfig, table: TableContent): SourceFacts | null {
  const scheme = source === undefined ? undefined : own(table.sources, source)?.scheme;
  return scheme === undefined ? null : own(table.source_facts, scheme);
}

/** A name that two senders have for different events stands for both. */
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

/** Also when the word stands in the environment: it must not become a secret that everybody knows. */
export function isInsecure(ref: SecretRef, facts: Pick<MachineFacts, 'variable'>): boolean {
  const value =
    ref.kind === 'env' ? facts.variable(ref.scope, ref.value) : ref.kind === 'literal' ? ref.value : undefined;
  return value === INSECURE_NO_AUTH;
}

const own = <T>(map: Readonly<Record<string, T>>, key: string): T | null =>
  Object.hasOwn(map, key) ? (map[key] ?? null) : null;

/** What is known of the payloads of routes; see shapes/payloads.ts. */
export interface Payloads {
  /** The problems that all rules find in a route. */
  problemsOf(route: RouteView): readonly Problem[];
  /**
   * The forms of events whose payload the route's templates see: what its filters leave. null: not certain, nothing is known
   * of them, or a script may replace the payload.
   */
  seenBy(route: RouteView): FormSet | null;
  /** What a placeholder of the route's templates holds. @param path empty: the whole payload */
  classOf(route: RouteView, path: readonly string[]): FieldClass;
  /** Names of the events that the shape of the route's source has; empty: none, or one shape for all events. */
  shapedEvents(route: RouteView): readonly string[];
  /** The source that alone documents this event, of those whose signature the route accepts. */
  senderOf(route: RouteView, event: string): string | null;
  /** Whether payloads of this event have the path, where the route's source is pinned and its shape knows it. */
  hasPath(route: RouteView, event: string, path: readonly string[]): boolean;
  /** Whether an event that a delivery causes comes to the route, before its filters on who wrote it. */
  mayTake(route: RouteView, effect: TargetEffect): boolean;
  readonly effects: Effects;
}

/** What runs and deliveries can do. */
export interface Effects {
  /** Whether a run with this toolset changes something outside of its own answer. One that is not known does. */
  acts(toolset: string): boolean;
  /** Events that a delivery makes senders send. @param target canonical name */
  causedBy(target: string): readonly TargetEffect[];
}
