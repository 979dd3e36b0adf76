/** What must be known of each key of a route besides its plan: a new key does not compile until it has a row. */
import type { RouteConfig, RoutePlan } from '../../schemas/generated/types.ts';

export interface RouteKey {
  /** What it becomes in the plan, which `lower/route.ts` fills and `diff` describes; null: it is for the compiler alone. */
  readonly plan: keyof RoutePlan | null;
  /** No other key depends on it: if it is misspelt, the rest of the route can still be checked, but for what seems to be missing. */
  readonly isAlone?: true;
  /** How its value names fields of payloads: as a template, as templates by name, of each output, as a bare path or a template, or as a path. */
  readonly payload?: 'template' | 'templates' | 'outputs' | 'key' | 'session' | 'path';
  /** Why it has no effect on a route that delivers the prompt itself. */
  readonly direct?: string;
  /** The same where the sender does not wait. */
  readonly message?: string;
  /** Why it has no effect on a route that fires a job. */
  readonly cron?: string;
}

const DIRECT = 'a `deliver_only` route runs no agent';
const NONE = '`agent: none` runs no agent';
const WAITS =
  'a `deliver_only` route runs no agent, and its sender waits; remove `deliver_only` to store the message instead';
const ONCE = 'a job never runs twice at once';
const ENDS = 'the sender of a `deliver_only` route waits, and is told how it ends';
const FIRES = 'a job has runs that no event has started';
const JOB = 'the job named by `cron_job` brings its own';

/** Other rules report `coalesce`, and filters that cannot hold. */
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
  session_key: { plan: 'session', isAlone: true, payload: 'session', direct: DIRECT, message: NONE, cron: ONCE },
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
  idempotency_ttl_seconds: { plan: 'idempotency_ttl_seconds', isAlone: true },
  max_age_seconds: { plan: 'max_age' },
  timestamp: { plan: 'max_age', payload: 'path' },
  accept_untrusted: { plan: null },
  untrusted: { plan: 'prompt', direct: DIRECT, message: NONE },
  capture: { plan: 'capture' },
} as const satisfies Record<keyof RouteConfig, RouteKey>;

const KEYS: ReadonlyMap<string, RouteKey> = new Map(Object.entries(ROUTE_KEYS));

/** What is known of a key; undefined if routes do not have it. */
export const routeKey = (key: string): RouteKey | undefined => KEYS.get(key);
