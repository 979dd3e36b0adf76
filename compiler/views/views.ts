/**
 * The views that rules check: a route, a job, an agent, a profile or the whole config, each with its scope and the
 * facts about the machine.
 */
import type {
  Config,
  JobConfig,
  Place,
  ProfileConfig,
  ProfilePlan,
  RouteConfig,
  RoutePlan,
  SchemePlan,
  SecretRef,
  ServerPlan,
  SourceFacts,
} from '../../schemas/generated/types.ts';
import type { WrittenAgent } from '../config/agents.ts';
import type { RouteTarget, SenderEventNames } from '../config/route-keys.ts';
import type { EffectiveSettings, Overrides, TableContent } from '../config/settings.ts';
import type { WrittenText } from '../config/written-numbers.ts';
import type { Problem, RelatedProblem } from '../diagnostics/diagnostic.ts';
import type { RuleId } from '../diagnostics/rule.ts';
import type { Variables } from '../text/plain-data.ts';

/** A route as written. */
export interface RouteEntry {
  readonly name: string;
  readonly config: RouteConfig;
  readonly at: Place;
  /** For paths relative to the route. */
  readonly written?: WrittenText;
}

export interface RouteScope {
  /** The table, without routes or with other ones: settings, profiles, targets, sources, jobs. */
  readonly table: TableContent;
  readonly facts: MachineFacts;
  /** The rules in force. */
  readonly rules: readonly ViewRule[];
  /** Null in a running gateway, and without a module that provides it. */
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

export interface RouteView extends Pick<RoutePlan, 'labels'> {
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
interface ProfileView {
  readonly name: string;
  readonly config: ProfileConfig;
  /** Its table contains only sources, targets and toolsets. */
  readonly scope: RouteScope;
}

/** An agent of the profile `name`. */
interface AgentView extends Pick<ProfileView, 'name'> {
  readonly agent: WrittenAgent;
  readonly scope: RouteScope;
  /** Creates the views lazily. */
  routes(): Iterable<RouteView>;
  /** Those of all agents, and of none. */
  allRoutes(): Iterable<RouteView>;
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

/** A reported problem; the rule's id is added. */
export type Reported = Omit<Problem, 'rule'>;

export type Reporter = (problem: Reported) => void;

export type Checks = { readonly [Kind in keyof Views]?: (view: Views[Kind], report: Reporter) => void };

export interface ViewRule {
  readonly id: RuleId;
  readonly checks: Checks;
}

/** The Rule of Two: (A) reads text of strangers, (B) reaches secrets, private files or sessions of others, (C) changes or sends something. */
export type Reach = Readonly<Record<'A' | 'B' | 'C', readonly ReachPlace[]>>;

/** One cause of a letter. */
export interface ReachPlace {
  readonly what: string;
  /** How to drop it. */
  readonly way: string;
  /** The key of the route, with the part of its value, or the key of the configuration. */
  readonly at?: Pick<RelatedProblem, 'path' | 'within' | 'root'>;
  /** A person approves each message. */
  readonly approved?: true;
}

/** A module's facts about the payloads of routes. */
export interface PayloadFacts {
  /** Whether every event that passes the route's filters has a value at the path. */
  isAlwaysSent(route: RouteView, path: readonly string[]): boolean;
  /** Whether an event that passes the route's filters may have values at all of these paths. True if its shape is unknown. */
  mayHave(route: RouteView, paths: readonly (readonly string[])[]): boolean;
  /** Whether outsiders may have written a part of the value. */
  isUntrusted(route: RouteView, path: readonly string[]): boolean;
  /** Whether an agent reads text in the route's prompt that outsiders may have written, and that no filter on its author excludes. */
  readsStrangers(route: RouteView): boolean;
  /** What the route's agent reads, reaches and can do, by the letters of the Rule of Two. */
  reachOf(route: RouteView): Reach;
  /** Events in the shape of the route's source; empty if there are none, or if one shape applies to all events. */
  shapedEvents(route: RouteView): readonly string[];
  /** The only source that documents this event, among those whose signatures the route accepts. */
  senderOf(route: RouteView, event: string): string | null;
  /** Whether payloads of this event have the path. False if the route names no source, or if the shape is unknown. */
  hasPath(route: RouteView, event: string, path: readonly string[]): boolean;
}

/**
 * A job in the store, as opposed to one in a config file.
 *
 * @example
 * ```ts
 * import type { JobRef } from 'hookwright/compiler';
 *
 * const job: JobRef = { id: 'job_1', name: 'nightly', profile: 'default' };
 * ```
 */
export interface JobRef {
  /** Unique among all jobs. */
  readonly id: string;
  /** Name for `cron_job`; unique in its profile. */
  readonly name: string;
  /** Name of the profile that the job runs in. */
  readonly profile: string;
}

/** `linked`: the file has other hard links, so it may not belong to the folder. */
export type ScriptState = 'present' | 'missing' | 'outside' | 'linked';

export interface MachineFacts {
  /** Absolute path of `<home_dir>`. */
  readonly home: string;
  /**
   * @param profileHome relative to `<home_dir>`, as in a profile's plan
   * @param path relative to `<profile home>/scripts/`
   * @returns `outside` if a symbolic link leads outside the folder
   */
  script(profileHome: string, path: string): ScriptState;
  /** @param path operand of `in_file`, as in the plan */
  listFile(path: string): boolean;
  skill(profileHome: string, name: string): boolean;
  /** Jobs in the store. */
  readonly jobs: readonly JobRef[];
  /** A variable of a profile, from the environment or its `.env`; undefined if it is unset or unknown. */
  variable(profile: string, name: string): string | undefined;
}

/** Jobs of the config and of the store. */
export function jobsOf(route: RouteView): readonly JobRef[] {
  const all: readonly JobRef[] = [...Object.values(route.scope.table.jobs), ...route.scope.facts.jobs];
  return all.filter(({ profile }) => profile === route.profile);
}

/** Ids are unique, but several jobs may have the same name. */
export function findJobs(route: RouteView, reference: string): readonly JobRef[] {
  const jobs = jobsOf(route);
  const byId = jobs.filter(({ id }) => id === reference);
  return byId.length > 0 ? byId : jobs.filter(({ name }) => name === reference);
}

/** The route's agent, or its job's; null: the default agent, which rules assume for jobs of the store. */
export function runningAgent(route: RouteView): string | null {
  if (route.mode !== 'cron') return route.config.agent ?? null;
  const [job] = findJobs(route, route.config.cron_job ?? '');
  return (job === undefined ? undefined : route.scope.table.jobs[job.id]?.agent) ?? null;
}
