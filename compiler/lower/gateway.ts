/**
 * Lowers `gateway:` and the settings of the webhook server: flags and environment override `extra`, which overrides the
 * keys next to it (§2.1).
 */
import { ALERT_KINDS, DEFAULT_PROFILE } from '../../base/names.ts';
import { DEFAULTS } from '../../schemas/built/defaults.ts';
import type {
  Config,
  ConsolePlan,
  DeliveryPlan,
  GatewayConfig,
  GatewayPlan,
  SecretRef,
  ServerPlan,
  StorePlan,
} from '../../schemas/generated/types.ts';
import type { KnownTargets } from '../config/route-keys.ts';
import type { EffectiveSettings, Overrides } from '../config/settings.ts';
import { parseNetwork } from '../config/settings.ts';
import type { Planned, Problem } from '../diagnostics/diagnostic.ts';
import { takeInto } from '../diagnostics/diagnostic.ts';
import { parseSecretRef } from '../text/secret-ref.ts';
import { lowerBudget, lowerSandbox } from './agent.ts';
import { APPROVE_MS, lowerReceiver } from './route.ts';

/** @param targets known targets; rules report unknown ones */
export function lowerGateway(config: GatewayConfig, targets: KnownTargets): Planned<GatewayPlan> {
  const { approvals, budget, name, ...settings } = { ...DEFAULTS.gateway, timezone: null, ...config };
  const problems: Problem[] = [];
  const receivers = (key: 'alerts' | 'approvals') => takeInto(problems)(lowerReceiver(config[key], targets), [key]);
  const plan = {
    ...settings,
    ...lowerBudget(config),
    ...lowerApprovals(approvals, receivers('approvals')),
    store: lowerStore(settings.store),
    console: lowerConsole(config.console, name),
    sandbox: lowerSandbox(config.sandbox),
    alerts: lowerAlerts(config, receivers('alerts')),
    heartbeat: lowerHeartbeat(config.heartbeat),
  };
  return { plan, problems };
}

export function lowerStore(config: NonNullable<GatewayConfig['store']>): StorePlan {
  if (config === 'sqlite') return { kind: 'sqlite' };
  const { postgres, listen, schema, key } = { ...DEFAULTS.postgresStore, ...config };
  const url = parseSecretRef(postgres, DEFAULT_PROFILE);
  return { kind: 'postgres', url, listen, schema, key: optionalRef(key) };
}

function lowerConsole(config: GatewayConfig['console'], name: string | undefined): ConsolePlan | null {
  if (config === undefined) return null;
  const { host, port, token, viewer_token, users = {}, base_path } = { ...DEFAULTS.console, ...config };
  const viewer = optionalRef(viewer_token);
  const people = Object.entries(users).map(
    ([person, { role, ...of }]) => [person, { token: parseSecretRef(of.token, DEFAULT_PROFILE), role }] as const,
  );
  return {
    host,
    port,
    token: optionalRef(token),
    ...(viewer === null ? {} : { viewer_token: viewer }),
    ...(people.length === 0 ? {} : { users: Object.fromEntries(people) }),
    ...(name === undefined ? {} : { name }),
    ...(base_path === undefined ? {} : { base_path }),
  };
}

function lowerAlerts({ alerts, approvals }: GatewayConfig, deliver: DeliveryPlan[]): GatewayPlan['alerts'] {
  if (alerts === undefined) return null;
  // Where approvals are requested, the request is the notice.
  const usual = ALERT_KINDS.filter((kind) => kind !== 'approval' || approvals === undefined);
  return { deliver, on: [...(alerts.on ?? usual)] };
}

function lowerApprovals(config: GatewayConfig['approvals'], deliver: DeliveryPlan[]): Pick<GatewayPlan, 'approvals'> {
  if (config === undefined) return {};
  const { expires, allow } = config;
  const expires_ms = expires === undefined ? APPROVE_MS : secondsOf(expires) * 1000;
  return { approvals: { deliver, expires_ms, ...(allow === undefined ? {} : { allow }) } };
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

/** A batch has its limit from the source or the settings. */
const { max_batch: _, ...SERVER } = DEFAULTS.webhookSettings;

/** Lowers the server's settings. Flags and environment override `extra`, which overrides the keys next to it (§2.4). */
export function lowerServer(config: Config, settings: EffectiveSettings, overrides: Overrides): ServerPlan {
  const values = { ...SERVER, ...settings.values };
  return {
    ...values,
    enabled: overrides.enabled ?? config.platforms?.webhook?.enabled ?? false,
    host: overrides.host ?? values.host,
    port: overrides.port ?? values.port,
    public_url: config.public_url ?? null,
    secret: globalSecret(values.secret, overrides),
    trusted_proxies: values.trusted_proxies.flatMap((text) => parseNetwork(text) ?? []),
    max_unverified_bytes: Math.max(values.max_unverified_bytes, values.max_body_bytes),
    accept_timeout_seconds: values.accept_timeout_seconds ?? null,
  };
}

/** WEBHOOK_SECRET becomes a reference, so that its value is never in the table. */
function globalSecret(written: string | undefined, overrides: Overrides): SecretRef | null {
  if (overrides.secret) return { kind: 'env', value: 'WEBHOOK_SECRET', scope: 'default' };
  return written === undefined ? null : parseSecretRef(written, 'default');
}
