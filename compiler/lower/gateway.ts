/**
 * Lowers `gateway:` and the settings of the webhook server: flags and environment override `extra`, which overrides the
 * keys next to it (§2.1).
 */
import { ALERT_KINDS, DEFAULT_PROFILE } from '../../base/names.ts';
import type {
  Config,
  ConsolePlan,
  GatewayConfig,
  GatewayPlan,
  SecretRef,
  ServerPlan,
  StorePlan,
} from '../../schemas/generated/types.ts';
import type { KnownTargets } from '../config/route-keys.ts';
import type { EffectiveSettings, Overrides } from '../config/settings.ts';
import { parseNetwork } from '../config/settings.ts';
import { parseSecretRef } from '../text/secret-ref.ts';
import { lowerBudget, lowerSandbox } from './agent.ts';
import { APPROVE_MS, lowerReceiver } from './route.ts';

const CONSOLE_PORT = 8645;

/** @param targets known targets; rules report unknown ones */
export function lowerGateway(config: GatewayConfig, targets: KnownTargets): GatewayPlan {
  return {
    multiplex_profiles: config.multiplex_profiles ?? false,
    max_concurrent_runs: config.max_concurrent_runs ?? 4,
    max_queued_runs: config.max_queued_runs ?? 10_000,
    drain_seconds: config.drain_seconds ?? 30,
    timezone: config.timezone ?? null,
    python: config.python ?? 'python3',
    durability: config.durability ?? 'full',
    retention_days: config.retention_days ?? 14,
    retention_max_mb: config.retention_max_mb ?? 2048,
    max_attempts: config.max_attempts ?? 8,
    at_most_once: config.at_most_once ?? false,
    ...lowerBudget(config),
    untrusted: config.untrusted ?? 'verbatim',
    capture: config.capture ?? 'all',
    capture_per_second: config.capture_per_second ?? 10,
    capture_days: config.capture_days ?? 3,
    capture_max_mb: config.capture_max_mb ?? 256,
    store: lowerStore(config.store ?? 'sqlite'),
    console: lowerConsole(config.console),
    sandbox: lowerSandbox(config.sandbox),
    alerts: lowerAlerts(config, targets),
    ...lowerApprovals(config.approvals, targets),
    heartbeat: lowerHeartbeat(config.heartbeat),
  };
}

export function lowerStore(config: NonNullable<GatewayConfig['store']>): StorePlan {
  if (config === 'sqlite') return { kind: 'sqlite' };
  const { postgres, listen = true, schema = 'hookwright', key } = config;
  const url = parseSecretRef(postgres, DEFAULT_PROFILE);
  return { kind: 'postgres', url, listen, schema, key: optionalRef(key) };
}

function lowerConsole(config: GatewayConfig['console']): ConsolePlan | null {
  if (config === undefined) return null;
  const { host = DEFAULT_HOST, port = CONSOLE_PORT, token, viewer_token } = config;
  const viewer = optionalRef(viewer_token);
  return { host, port, token: optionalRef(token), ...(viewer === null ? {} : { viewer_token: viewer }) };
}

function lowerAlerts({ alerts, approvals }: GatewayConfig, targets: KnownTargets): GatewayPlan['alerts'] {
  if (alerts === undefined) return null;
  // Where approvals are requested, the request is the notice.
  const usual = ALERT_KINDS.filter((kind) => kind !== 'approval' || approvals === undefined);
  return { deliver: lowerReceiver(alerts, targets).plan ?? [], on: [...(alerts.on ?? usual)] };
}

function lowerApprovals(config: GatewayConfig['approvals'], targets: KnownTargets): Pick<GatewayPlan, 'approvals'> {
  if (config === undefined) return {};
  const { expires } = config;
  const expires_ms = expires === undefined ? APPROVE_MS : secondsOf(expires) * 1000;
  return { approvals: { deliver: lowerReceiver(config, targets).plan ?? [], expires_ms } };
}

const UNIT_SECONDS = { s: 1, m: 60, h: 3600 } as const;

/** @param duration as `90s`, `5m`, `24h` */
const secondsOf = (duration: string): number =>
  Number(duration.slice(0, -1)) * UNIT_SECONDS[duration.slice(-1) as keyof typeof UNIT_SECONDS];

function lowerHeartbeat(config: GatewayConfig['heartbeat']): GatewayPlan['heartbeat'] {
  if (config === undefined) return null;
  const { url, every = '5m' } = config;
  return { url: parseSecretRef(url, DEFAULT_PROFILE), every_seconds: secondsOf(every) };
}

const optionalRef = (text: string | undefined): SecretRef | null =>
  text === undefined ? null : parseSecretRef(text, DEFAULT_PROFILE);

/** Lowers the server's settings. Flags and environment override `extra`, which overrides the keys next to it (§2.4). */
const DEFAULT_HOST = '127.0.0.1';
const DEFAULT_PORT = 8644;
const MAX_BODY_BYTES = 1_048_576;

export function lowerServer(config: Config, settings: EffectiveSettings, overrides: Overrides): ServerPlan {
  const { values } = settings;
  return {
    enabled: overrides.enabled ?? config.platforms?.webhook?.enabled ?? false,
    host: overrides.host ?? values.host ?? DEFAULT_HOST,
    port: overrides.port ?? values.port ?? DEFAULT_PORT,
    public_url: config.public_url ?? null,
    secret: globalSecret(values.secret, overrides),
    max_body_bytes: values.max_body_bytes ?? MAX_BODY_BYTES,
    ...(values.max_batch === undefined ? {} : { max_batch: values.max_batch }),
    rate_limit: values.rate_limit ?? 30,
    max_connections: values.max_connections ?? 1024,
    max_connections_per_address: values.max_connections_per_address ?? 256,
    trusted_proxies: (values.trusted_proxies ?? []).flatMap((text) => parseNetwork(text) ?? []),
    max_unverified_bytes: Math.max(values.max_unverified_bytes ?? 67_108_864, values.max_body_bytes ?? MAX_BODY_BYTES),
    min_body_rate: values.min_body_rate ?? 512,
    script_timeout_seconds: values.script_timeout_seconds ?? 30,
    direct_timeout_seconds: values.direct_timeout_seconds ?? 10,
    idempotency_ttl_seconds: values.idempotency_ttl_seconds ?? 3600,
    accept_timeout_seconds: values.accept_timeout_seconds ?? null,
  };
}

/** WEBHOOK_SECRET becomes a reference, so that its value is never in the table. */
function globalSecret(written: string | undefined, overrides: Overrides): SecretRef | null {
  if (overrides.secret) return { kind: 'env', value: 'WEBHOOK_SECRET', scope: 'default' };
  return written === undefined ? null : parseSecretRef(written, 'default');
}
