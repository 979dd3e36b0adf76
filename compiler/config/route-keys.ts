/** What must be known of each key of a route besides its plan: a new key does not compile until it has a row. */
import type { RouteConfig } from '../../schemas/generated/types.ts';

export interface RouteKey {
  /** No other key depends on it: if it is misspelt, the rest of the route can still be checked, but for what seems to be missing. */
  readonly isAlone?: true;
  /** How its value names fields of payloads: as a template, as templates by name, as a bare path or a template, or as a path. */
  readonly payload?: 'template' | 'templates' | 'key' | 'path';
  /** Why it has no effect on a route that delivers the prompt itself. */
  readonly direct?: string;
  /** Why it has no effect on a route that fires a job. */
  readonly cron?: string;
}

const DIRECT = 'a `deliver_only` route runs no agent';
const JOB = 'the job named by `cron_job` brings its own';

/** Other rules report `coalesce`, and filters that cannot hold. */
export const ROUTE_KEYS = {
  description: { isAlone: true },
  enabled: { isAlone: true },
  events: { isAlone: true },
  source: {},
  auth: {},
  secret: { isAlone: true },
  secrets: {},
  public_key: {},
  verify_token: {},
  public_url: {},
  profile: {},
  prompt: { isAlone: true, payload: 'template' },
  filters: { isAlone: true },
  script: { isAlone: true },
  skills: { isAlone: true, direct: DIRECT, cron: JOB },
  toolsets: { direct: DIRECT, cron: JOB },
  deliver: { cron: JOB },
  deliver_extra: { payload: 'templates', cron: JOB },
  deliver_only: {},
  cron_job: {},
  coalesce: { isAlone: true, payload: 'key' },
  mirror_to_session: { isAlone: true, cron: JOB },
  rate_limit: { isAlone: true },
  max_concurrent: { isAlone: true, direct: DIRECT, cron: 'a job never runs twice at once' },
  idempotency_ttl_seconds: { isAlone: true },
  max_age_seconds: {},
  timestamp: { payload: 'path' },
  accept_untrusted: {},
  untrusted: { direct: DIRECT },
  capture: {},
} as const satisfies Record<keyof RouteConfig, RouteKey>;

const KEYS: ReadonlyMap<string, RouteKey> = new Map(Object.entries(ROUTE_KEYS));

/** What is known of a key; undefined if routes do not have it. */
export const routeKey = (key: string): RouteKey | undefined => KEYS.get(key);
