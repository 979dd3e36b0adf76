/** A deliverer over shipped or invented targets, with a recording log, for tests. */
import type { lookup } from 'node:dns';
import type { TestContext } from 'node:test';
import { codehosts } from '../../modules/codehosts/module.ts';
import { mail } from '../../modules/mail/module.ts';
import type { SwappableDeliverer } from '../../runtime/deliver/create-deliverer.ts';
import { createDeliverer } from '../../runtime/deliver/create-deliverer.ts';
import type { DeliveryContext, DeliveryRequest, DriverLoaders, Drivers } from '../../runtime/deliver/deliverer.ts';
import { HttpPool, TokenCache } from '../../runtime/deliver/http-pool.ts';
import type { LinkProblem } from '../../runtime/deliver/link-targets.ts';
import { linkTargets, loadDrivers } from '../../runtime/deliver/link-targets.ts';
import { createPace } from '../../runtime/deliver/pace.ts';
import { createMirror, fileSessions } from '../../runtime/deliver/sessions.ts';
import type { Clock } from '../../runtime/platform/clock.ts';
import { systemClock } from '../../runtime/platform/clock.ts';
import type { LogFields } from '../../runtime/platform/log.ts';
import { runProcess } from '../../runtime/platform/process/run-process.ts';
import type { SecretResolver } from '../../runtime/platform/secrets.ts';
import { SecretError } from '../../runtime/platform/secrets.ts';
import type { ProfilePlan, TargetBinding, TargetPlan } from '../../schemas/generated/types.ts';
import { atEnd } from './at-end.ts';

export interface LogLine {
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  readonly fields: LogFields;
  readonly message: string;
}

export interface TestDeliverer extends SwappableDeliverer {
  readonly log: readonly LogLine[];
  readonly problems: readonly LinkProblem[];
}

export interface TestDelivererOptions {
  readonly targets: readonly TargetPlan[];
  /** Bindings by profile, then by target. */
  readonly bindings: Readonly<Record<string, Readonly<Record<string, TargetBinding>>>>;
  readonly clock?: Clock;
  readonly home?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Resolves hosts that must be public. */
  readonly lookup?: typeof lookup;
}

/** Targets of the core and of the modules. */
const DRIVERS: Drivers = {
  ...(await loadDrivers({ targets: {}, profiles: {} }, { modules: [] })),
  ...(await loadAll({ ...codehosts.runtime?.drivers, ...mail.runtime?.drivers })),
};

async function loadAll(loaders: DriverLoaders): Promise<Drivers> {
  return Object.fromEntries(
    await Promise.all(Object.entries(loaders).map(async ([kind, load]) => [kind, await load()])),
  );
}

/** Literal secrets are their value, `env:` ones come from the options, all others are missing. */
function resolverOf(env: Readonly<Record<string, string>>): SecretResolver {
  return {
    resolve(ref) {
      const value = ref.kind === 'literal' ? ref.value : env[ref.value];
      if (value === undefined || value === '') throw new SecretError(`${ref.kind}:${ref.value} is missing or empty`);
      return value;
    },
  };
}

export function createTestDeliverer(t: Pick<TestContext, 'after'>, options: TestDelivererOptions): TestDeliverer {
  const clock = options.clock ?? systemClock;
  const lines: LogLine[] = [];
  const write =
    (level: LogLine['level']) =>
    (fields: LogFields, message: string): void =>
      void lines.push({ level, fields, message });
  const log = { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') };
  const http = new HttpPool(options.lookup);
  atEnd(t, () => http.destroy());
  const home = options.home ?? '/nonexistent';
  const context: DeliveryContext = {
    modules: [],
    clock,
    log,
    http,
    runProcess: (request) => runProcess(request, { clock, home }),
    pace: createPace({ clock, longestHoldMs: 5000 }),
    tokens: new TokenCache(clock),
    env: options.env ?? {},
    homeOf: (profile) => (profile === 'default' ? home : `${home}/profiles/${profile}`),
  };
  const targets = Object.fromEntries(options.targets.map((plan) => [plan.name, plan]));
  const profiles = Object.fromEntries(
    Object.entries(options.bindings).map(([name, bindings]) => [name, profileOf(name, bindings)]),
  );
  const { linked, problems } = linkTargets({ targets, profiles }, resolverOf(options.env ?? {}), context, DRIVERS);
  const deliverer = createDeliverer({
    linked,
    context,
    mirror: createMirror({ ...context, sessions: fileSessions(context.homeOf) }),
  });
  return { ...deliverer, log: lines, problems };
}

function profileOf(name: string, targets: Readonly<Record<string, TargetBinding>>): ProfilePlan {
  return {
    name,
    home: name === 'default' ? '' : `profiles/${name}`,
    agent: { kind: 'preview', timeout_seconds: 1, max_attempts: 1, max_concurrent: null, toolsets: null },
    agents: {},
    toolsets: [],
    targets: { ...targets },
  };
}

export function deliveryTo(target: string, more: Partial<DeliveryRequest> = {}): DeliveryRequest {
  return {
    key: 'd1:0',
    profile: 'default',
    route: 'builds',
    delivery_id: 'evt-1',
    target,
    extra: {},
    unresolved: [],
    text: 'hello',
    sent: 0,
    first_attempt_at: null,
    mirror_to_session: false,
    signal: new AbortController().signal,
    ...more,
  };
}
