/** Compiled tables for tests of the runtime: small, valid, and made with the real lowerers where text is involved. */
import { emitTable } from '../../compiler/emit/emit-table.ts';
import { lowerDefaultSources } from '../../compiler/lower/sources.ts';
import { defaultPrompt } from '../../compiler/lower/template.ts';
import type { GatewayPlan, ProfilePlan, RoutePlan, RouteTable, ServerPlan } from '../../schemas/generated/types.ts';
import { loadShippedSources } from './catalog-sources.ts';

const sources = loadShippedSources();
const defaults = lowerDefaultSources(sources.lowered);

export const SECRET = 'a secret of twenty-eight chars';

const SERVER: ServerPlan = {
  enabled: true,
  host: '127.0.0.1',
  port: 0,
  public_url: null,
  secret: null,
  max_body_bytes: 1_048_576,
  rate_limit: 1_000_000,
  max_connections: 1024,
  max_connections_per_address: 256,
  trusted_proxies: [],
  max_unverified_bytes: 67_108_864,
  min_body_rate: 512,
  script_timeout_seconds: 30,
  direct_timeout_seconds: 10,
  idempotency_ttl_seconds: 3600,
  accept_timeout_seconds: null,
};

const GATEWAY: GatewayPlan = {
  multiplex_profiles: false,
  max_concurrent_runs: 4,
  max_queued_runs: 10_000,
  drain_seconds: 5,
  timezone: null,
  python: 'python3',
  durability: 'full',
  retention_days: 14,
  retention_max_mb: 2048,
  max_attempts: 8,
  at_most_once: false,
  untrusted: 'verbatim',
  capture: 'none',
  capture_per_second: 10,
  capture_days: 3,
  capture_max_mb: 256,
  store: { kind: 'sqlite' },
  console: null,
  alerts: null,
  heartbeat: null,
  sandbox: null,
};

export function profilePlan(name: string): ProfilePlan {
  return {
    name,
    home: name === 'default' ? '' : `profiles/${name}`,
    agent: { kind: 'preview', timeout_seconds: 900, max_attempts: 1, max_concurrent: null, toolsets: null },
    agents: {},
    toolsets: ['web_search'],
    targets: {},
  };
}

/** An agent route that accepts every event signed with `SECRET`. */
export function routePlan(name: string, parts: Partial<RoutePlan> = {}): RoutePlan {
  return {
    name,
    profile: 'default',
    at: { file: 'hookwright.yaml', line: 1 },
    enabled: true,
    description: null,
    mode: 'agent',
    source: null,
    insecure: false,
    schemes: defaults.default_schemes,
    secrets: [{ ref: { kind: 'literal', value: SECRET, scope: 'default' }, expires_at: null }],
    verify_token: null,
    public_url: null,
    events: null,
    filters: null,
    script: null,
    prompt: defaultPrompt,
    agent: null,
    skills: [],
    toolsets: ['web_search'],
    deliver: [{ target: 'log', extra: {} }],
    cron_job: null,
    coalesce: null,
    session: null,
    mirror_to_session: false,
    rate_limit: 1_000_000,
    max_concurrent: null,
    on_failure: [],
    loop_limit: 10,
    allow_own_events: false,
    idempotency_ttl_seconds: 3600,
    accept_timeout_seconds: 2.5,
    max_age: null,
    capture: 'none',
    ...parts,
  };
}

export interface TableParts {
  readonly routes?: Readonly<Record<string, Partial<RoutePlan>>>;
  readonly server?: Partial<ServerPlan>;
  readonly gateway?: Partial<GatewayPlan>;
  readonly profiles?: readonly string[];
}

export function routeTable({ routes = {}, server, gateway, profiles = ['default'] }: TableParts): {
  readonly table: RouteTable;
  readonly text: string;
} {
  return emitTable({
    server: { ...SERVER, ...server },
    gateway: { ...GATEWAY, ...gateway },
    app_scheme: 'hookwright',
    schemes: Object.fromEntries(sources.lowered.map(({ name, plan }) => [name, plan])),
    ...defaults,
    sources: {},
    source_facts: {},
    target_names: {},
    targets: {},
    toolsets: {},
    profiles: Object.fromEntries(profiles.map((name) => [name, profilePlan(name)])),
    jobs: {},
    blueprints: {},
    routes: Object.fromEntries(Object.entries(routes).map(([name, parts]) => [name, routePlan(name, parts)])),
  });
}
