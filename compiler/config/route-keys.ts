/**
 * The keys of a route with their properties, and how deliveries, outputs, events and scripts are read.
 */

import { extname, isAbsolute, join, normalize, relative, sep } from 'node:path';
import { own } from '../../base/names.ts';
import { realSource } from '../../base/spec-names.ts';
import type {
  OutputConfig,
  RouteConfig,
  RoutePlan,
  ScriptPlan,
  SessionConfig,
  TargetPlan,
} from '../../schemas/generated/types.ts';
import type { NodePath } from '../diagnostics/diagnostic.ts';
import { globSource, linkGlob } from '../globs/linear-glob.ts';
import { isPlainMap } from '../text/plain-data.ts';
import type { TableContent } from './settings.ts';

/** Properties of a route's key. A new key does not compile until it has a row. */
export interface RouteKey {
  /** The key of the plan that `lower/route.ts` fills and `diff` describes; null: only the compiler uses it. */
  readonly plan: keyof RoutePlan | null;
  /** No other key depends on it: if it is misspelt, the rest of the route can still be checked, except for missing keys. */
  readonly isAlone?: true;
  /** How its value refers to payload fields: a template, templates by name, templates of each output, a bare path or a template, or a path. */
  readonly payload?: 'template' | 'templates' | 'outputs' | 'key' | 'session' | 'path';
  /** Why it has no effect on a route that delivers the prompt itself. */
  readonly direct?: string;
  /** The same if the sender does not wait. */
  readonly message?: string;
  /** Why it has no effect on a route that fires a job. */
  readonly cron?: string;
}

const DIRECT = 'a `deliver_only` route runs no agent';
const NONE = '`agent: none` runs no agent';
const WAITS =
  'a `deliver_only` route runs no agent and sends the prompt while the sender waits; remove `deliver_only` to store the message';
const ONCE = 'a job never runs twice at once';
const ENDS = 'the sender of a `deliver_only` route waits for the result';
const FIRES = 'a job also has runs without an event';
const AT_ONCE = 'a `deliver_only` route sends the message while the sender waits';
const JOB = 'the job named by `cron_job` has its own setting';

/** Other rules report `coalesce`, and filters that never match. */
export const ROUTE_KEYS = {
  description: { plan: 'description', isAlone: true },
  enabled: { plan: 'enabled', isAlone: true },
  events: { plan: 'events', isAlone: true },
  source: { plan: 'source' },
  auth: { plan: 'schemes' },
  secret: { plan: 'secrets', isAlone: true },
  secrets: { plan: 'secrets' },
  public_key: { plan: 'secrets' },
  verify_token: { plan: 'verify_token' },
  public_url: { plan: 'public_url' },
  profile: { plan: 'profile' },
  prompt: { plan: 'prompt', isAlone: true, payload: 'template' },
  filters: { plan: 'filters', isAlone: true },
  script: { plan: 'script', isAlone: true },
  skills: { plan: 'skills', isAlone: true, direct: DIRECT, message: NONE, cron: JOB },
  toolsets: { plan: 'toolsets', direct: DIRECT, message: NONE, cron: JOB },
  deliver: { plan: 'deliver', cron: JOB },
  deliver_extra: { plan: 'deliver', payload: 'templates', cron: JOB },
  approve: { plan: 'deliver', isAlone: true, cron: JOB },
  outputs: { plan: 'outputs', isAlone: true, payload: 'outputs', direct: DIRECT, message: NONE, cron: JOB },
  deliver_only: { plan: 'mode' },
  agent: { plan: 'agent', direct: WAITS, cron: JOB },
  cron_job: { plan: 'cron_job' },
  coalesce: { plan: 'coalesce', isAlone: true, payload: 'key' },
  session: { plan: 'session', isAlone: true, payload: 'session', direct: DIRECT, message: NONE, cron: ONCE },
  fresh: { plan: 'pins', isAlone: true, payload: 'template', direct: AT_ONCE, cron: FIRES },
  progress: { plan: 'progress', isAlone: true, direct: AT_ONCE, cron: JOB },
  session_key: { plan: 'session', isAlone: true, direct: DIRECT, message: NONE, cron: ONCE },
  session_scope: { plan: 'session', direct: DIRECT, message: NONE, cron: ONCE },
  mirror_to_session: { plan: 'mirror_to_session', isAlone: true, cron: JOB },
  rate_limit: { plan: 'rate_limit', isAlone: true },
  max_concurrent: {
    plan: 'max_concurrent',
    isAlone: true,
    direct: DIRECT,
    message: NONE,
    cron: ONCE,
  },
  budget: { plan: 'budget', isAlone: true, direct: DIRECT, message: NONE },
  on_failure: { plan: 'on_failure', isAlone: true, direct: DIRECT, message: NONE, cron: JOB },
  loop_limit: { plan: 'loop_limit', isAlone: true, direct: DIRECT, cron: 'a job never runs twice at once' },
  allow_own_events: { plan: 'allow_own_events', isAlone: true },
  status_url: { plan: 'status', isAlone: true, direct: ENDS, cron: FIRES },
  status_answer: { plan: 'status', isAlone: true, direct: ENDS, cron: FIRES },
  respond: { plan: 'respond', isAlone: true },
  idempotency_ttl_seconds: { plan: 'idempotency_ttl_seconds', isAlone: true },
  accept_timeout_seconds: { plan: 'accept_timeout_seconds', isAlone: true },
  replay_guard: { plan: 'replay_guard', isAlone: true },
  max_age_seconds: { plan: 'max_age' },
  timestamp: { plan: 'max_age', payload: 'path' },
  accept_untrusted: { plan: null },
  untrusted: { plan: 'prompt', direct: DIRECT, message: NONE },
  capture: { plan: 'capture' },
} as const satisfies Record<keyof RouteConfig, RouteKey>;

const KEYS: ReadonlyMap<string, RouteKey> = new Map(Object.entries(ROUTE_KEYS));

/** Properties of a key; undefined if routes do not have it. */
export const routeKey = (key: string): RouteKey | undefined => KEYS.get(key);

/** The two keys of a route or a job. */
export interface DeliveryConfig {
  readonly deliver?: string | readonly string[] | undefined;
  readonly deliver_extra?: DeliverExtra | undefined;
}

export type Scalar = string | number;

export type DeliverExtra = Readonly<Record<string, Scalar | Readonly<Record<string, Scalar>>>>;

/** Canonical target names by name and alias. */
type TargetAliases = Readonly<Record<string, string>>;

/** The part of the table that deliveries are lowered against. */
export type KnownTargets = Pick<TableContent, 'targets' | 'target_names'>;

/** The targets that show the progress of events of the route's source in the form that the route asks for. */
export const progressTargets = (
  { progress: as, source = '' }: Pick<RouteConfig, 'progress' | 'source'>,
  { targets }: Pick<TableContent, 'targets'>,
): readonly TargetPlan[] =>
  Object.values(targets).filter(({ progress }) => progress?.as === as && progress?.source === realSource(source));

const DEFAULT_TARGET = 'log';

/** A target as written. `index` is its position in the list, or null if `deliver` is a single name. */
export interface WrittenTarget {
  readonly name: string;
  readonly index: number | null;
}

/** The names in `deliver`. The default is `log`. */
export function writtenTargets(deliver: DeliveryConfig['deliver']): readonly WrittenTarget[] {
  if (deliver === undefined) return [{ name: DEFAULT_TARGET, index: null }];
  return typeof deliver === 'string'
    ? [{ name: deliver, index: null }]
    : deliver.map((name, index) => ({ name, index }));
}

/** The canonical name, or null if the name is unknown. */
export const targetNamed = (names: TargetAliases, name: string): string | null => own(names, name) ?? null;

/** A target as written; `target` is its canonical name, null if the name is unknown. */
export interface RouteTarget extends WrittenTarget {
  readonly target: string | null;
}

/** The targets of a route or a job. */
export const namedTargets = (deliver: DeliveryConfig['deliver'], names: TargetAliases): readonly RouteTarget[] =>
  writtenTargets(deliver).map((written) => ({ ...written, target: targetNamed(names, written.name) }));

/** The values of `deliver_extra` for one target: the flat keys that it reads, overridden by those under the target's name. */
export function extraOf(extra: DeliverExtra, plan: TargetPlan, names: TargetAliases): ReadonlyMap<string, ExtraValue> {
  const values = new Map<string, ExtraValue>();
  const known = addressKeys(plan);
  for (const [key, value] of Object.entries(extra)) {
    if (!isPlainMap(value) && known.includes(key)) values.set(key, { text: String(value), path: [key] });
  }
  for (const [key, group] of Object.entries(extra)) {
    if (!isPlainMap(group) || targetNamed(names, key) !== plan.name) continue;
    for (const [name, value] of Object.entries(group)) values.set(name, { text: String(value), path: [key, name] });
  }
  return values;
}

/** The two names for a chat's thread (§2.1). */
export const THREAD_KEYS = ['message_thread_id', 'thread_id'];

/** The keys of `deliver_extra` that a target reads. */
export const addressKeys = (plan: TargetPlan): readonly string[] =>
  plan.address.flatMap(({ name }) => (name === 'thread' ? [...THREAD_KEYS] : [name]));

export interface ExtraValue {
  readonly text: string;
  /** Relative to `deliver_extra`. */
  readonly path: readonly string[];
}

/** Names that jobs accept besides targets. `origin`: the chat in which the job was created, else the profile's home channel. */
export const JOB_DELIVERIES: readonly string[] = ['origin'];

/** The keys of an output that are not part of the address. */
export const OWN_KEYS: readonly string[] = ['deliver', 'allow', 'max', 'approve', 'required'];

/** Converts an output to `deliver` and `deliver_extra`. */
export function deliveryOf(output: OutputConfig): Required<DeliveryConfig> {
  const { deliver, allow, max, approve, required, ...address } = output;
  return { deliver, deliver_extra: address as Readonly<Record<string, Scalar>> };
}

/** The path, relative to the route or job, of a path in that delivery. */
export function outputPath(name: string, [key, ...rest]: NodePath): NodePath {
  if (key === undefined || key === 'deliver_extra') return ['outputs', name, ...rest];
  return ['outputs', name, key];
}

/** The session of a route in either form, and the place of its key; null: the route names no key. */
export function sessionOf(config: RouteConfig): (SessionConfig & { readonly path: NodePath }) | null {
  const { session, session_key: key, session_scope: scope } = config;
  if (session !== undefined) return { ...session, path: ['session', 'key'] };
  return key === undefined ? null : { key, ...(scope === undefined ? {} : { scope }), path: ['session_key'] };
}

/** The placeholder of the list of a burst's events. */
export const EVENTS = '{events}';

export const keepsAll = ({ coalesce }: Pick<RouteConfig, 'coalesce'>): boolean => coalesce?.keep === 'all';

const SHELL_EXTENSIONS: ReadonlySet<string> = new Set(['.sh', '.bash']);

/**
 * Returns the path relative to the scripts folder, or null if it leads outside it. Symbolic links are not resolved.
 * @param folder absolute path of the scripts folder
 */
export function scriptPath(written: string, folder: string): string | null {
  const path = isAbsolute(written) ? relative(folder, written) : normalize(written);
  const leadsOut = path === '' || path === '.' || path === '..' || path.startsWith(`..${sep}`) || isAbsolute(path);
  return leadsOut || path.includes('\0') ? null : path.split(sep).join('/');
}

export const scriptsFolder = (profileHome: string): string => join(profileHome, 'scripts');

export function lowerScript(path: string, timeoutSeconds: number): ScriptPlan {
  const interpreter = SHELL_EXTENSIONS.has(extname(path).toLowerCase()) ? 'bash' : 'python';
  return { path, interpreter, timeout_seconds: timeoutSeconds };
}

const GLOB = /[*?[{]/;

/** Event names: an entry that contains a wildcard is a glob. */
export const isEventGlob = (entry: string): boolean => GLOB.test(entry);

/** Alternative names of events, by the name that is sent. */
export type SenderEventNames = Readonly<Record<string, readonly string[]>>;

/** What an entry of `events` is compared with; null for an invalid glob, which `event-glob` reports. */
export function entryMatcher(entry: string): ((name: string) => boolean) | null {
  if (!isEventGlob(entry)) return (name) => name === entry;
  const source = globSource(entry);
  return typeof source === 'string' ? linkGlob(source) : null;
}

/** Events that a sender documents. */
interface DocumentedEvents {
  readonly events: readonly string[];
  readonly event_names?: SenderEventNames | undefined;
}

/** The first documented event that an entry of `events` accepts; null if there is none. */
export function matchingEvent(entry: string, documented: DocumentedEvents | undefined): string | null {
  const passes = entryMatcher(entry);
  if (documented === undefined || passes === null) return null;
  const further = Object.entries(documented.event_names ?? {}).find(([, names]) => names.some(passes));
  return documented.events.find(passes) ?? further?.[0] ?? null;
}
