/** What must be known of each key of a route besides its plan: a new key does not compile until it has a row. */
import type { RouteConfig } from '../../schemas/generated/types.ts';

export interface RouteKey {
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
  description: {},
  enabled: {},
  events: {},
  source: {},
  auth: {},
  secret: {},
  secrets: {},
  public_key: {},
  verify_token: {},
  public_url: {},
  profile: {},
  prompt: { payload: 'template' },
  filters: {},
  script: {},
  skills: { direct: DIRECT, cron: JOB },
  toolsets: { direct: DIRECT, cron: JOB },
  deliver: { cron: JOB },
  deliver_extra: { payload: 'templates', cron: JOB },
  deliver_only: {},
  cron_job: {},
  coalesce: { payload: 'key' },
  mirror_to_session: { cron: JOB },
  rate_limit: {},
  max_concurrent: { direct: DIRECT, cron: 'a job never runs twice at once' },
  idempotency_ttl_seconds: {},
  max_age_seconds: {},
  timestamp: { payload: 'path' },
  accept_untrusted: {},
  untrusted: { direct: DIRECT },
  capture: {},
} as const satisfies Record<keyof RouteConfig, RouteKey>;
