/** What rules look at: a route, a job, an agent, a profile or the whole config, each with the scope that it is checked against. */
import type {
  Config,
  JobConfig,
  Place,
  ProfileConfig,
  ProfilePlan,
  RouteConfig,
  SchemePlan,
  SecretRef,
  ServerPlan,
  SourceFacts,
} from '../../schemas/generated/types.ts';
import type { WrittenAgent } from '../config/agents.ts';
import type { RouteTarget } from '../config/deliveries.ts';
import type { SenderEventNames } from '../config/event-names.ts';
import type { Overrides } from '../config/overrides.ts';
import type { TableContent } from '../config/table-content.ts';
import type { EffectiveSettings } from '../config/webhook-settings.ts';
import type { Problem } from '../diagnostics/problem.ts';
import type { RuleId } from '../diagnostics/rule.ts';
import type { Variables } from '../text/variables.ts';
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
  /** The rules in force. */
  readonly rules: readonly ViewRule[];
  /** Null without a module that has it, and in a running gateway. */
  readonly payloads: PayloadFacts | null;
  /**
   * Names whose definitions have errors, as `<kind>:<name>` (`job:`, `target:`, `source:`, `setting:`, `profile:`). They are
   * not in the table, but this must not be reported again. A `route:` has a misspelt key, perhaps one that it seems to lack.
   */
  readonly invalidNames: ReadonlySet<string>;
}

export type RouteMode = 'agent' | 'message' | 'direct' | 'cron';

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

/** The part of a config that belongs to one profile. For `default`, it is part of the root config. */
export interface ProfileView {
  readonly name: string;
  readonly config: ProfileConfig;
  /** Its table contains only sources, targets and toolsets. */
  readonly scope: RouteScope;
}

/** An agent of the profile `name`. */
export interface AgentView extends Pick<ProfileView, 'name'> {
  readonly agent: WrittenAgent;
  /** Creates the views lazily. */
  routes(): Iterable<RouteView>;
}

export interface JobView {
  readonly name: string;
  readonly config: JobConfig;
  readonly profile: ProfilePlan;
  readonly scope: RouteScope;
}

export interface ConfigView {
  readonly config: Config;
  readonly settings: EffectiveSettings;
  readonly overrides: Overrides;
  /** Environment variables that override settings, by name. */
  readonly variables: Variables;
  readonly server: ServerPlan;
  /** Its table does not contain routes yet. */
  readonly scope: RouteScope;
  /** See `RouteScope.invalidNames`. */
  readonly invalidNames: ReadonlySet<string>;
}

/** Views by kind. Paths of problems are relative to the route or job, else to the file. */
export interface Views {
  /** One static or dynamic route, with its table. */
  readonly route: RouteView;
  readonly job: JobView;
  /** An agent of a profile, with the routes and subscriptions whose prompts it runs. */
  readonly agent: AgentView;
  /** The part that a profile's config and the root config have in common. */
  readonly profile: ProfileView;
  /** The whole root config. */
  readonly config: ConfigView;
}

/** What a rule reports: its id is added. */
export type Reported = Omit<Problem, 'rule'>;

export type Reporter = (problem: Reported) => void;

export type Checks = { readonly [Kind in keyof Views]?: (view: Views[Kind], report: Reporter) => void };

export interface ViewRule {
  readonly id: RuleId;
  readonly checks: Checks;
}

/** What a module knows about the payloads of routes. */
export interface PayloadFacts {
  /** Whether every event that passes the route's filters has a value at the path. */
  isAlwaysSent(route: RouteView, path: readonly string[]): boolean;
  /** Whether outsiders may have written a part of the value. */
  isUntrusted(route: RouteView, path: readonly string[]): boolean;
  /** Whether an agent reads text in the route's prompt that outsiders may have written, and no filter on its author keeps away. */
  readsStrangers(route: RouteView): boolean;
  /** Events in the shape of the route's source; empty if there are none, or if one shape applies to all events. */
  shapedEvents(route: RouteView): readonly string[];
  /** The only source that documents this event, among those whose signatures the route accepts. */
  senderOf(route: RouteView, event: string): string | null;
  /** Whether payloads of this event have the path. False if the route names no source, or if the shape is unknown. */
  hasPath(route: RouteView, event: string, path: readonly string[]): boolean;
}
