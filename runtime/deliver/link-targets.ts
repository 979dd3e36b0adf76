/** Links target plans with the credentials of each profile: afterwards a delivery can reach those and no others (§5.4). */
import type { ProfilePlan, TargetBinding, TargetPlan } from '../../schemas/generated/types.ts';
import type { SecretResolver } from '../secrets.ts';
import { SecretError } from '../secrets.ts';
import type { BoundTarget, CreateDriver, DeliveryContext, Driver } from './driver.ts';
import { createEmailDriver } from './drivers/email.ts';
import { createForgeaCommentDriver } from './drivers/forgea-comment.ts';
import { createLocalDriver } from './drivers/local.ts';
import { createLogDriver } from './drivers/log.ts';
import { createHttpDriver } from './http/http-driver.ts';
import { createRedact } from './redact.ts';

/** The parts of a route table that deliveries need. */
export interface TargetTables {
  readonly targets: Readonly<Record<string, TargetPlan>>;
  readonly profiles: Readonly<Record<string, ProfilePlan>>;
}

export interface LinkedTarget {
  readonly bound: BoundTarget;
  readonly driver: Driver;
}

/** Drivers of each profile by target; a profile sees only its own map. */
export type LinkedTargets = ReadonlyMap<string, ReadonlyMap<string, LinkedTarget>>;

/** A binding that cannot be used; `message` names setting and reference, never a value. */
export interface LinkProblem {
  readonly profile: string;
  readonly target: string;
  readonly message: string;
}

const DRIVERS: Readonly<Record<TargetPlan['driver'], CreateDriver>> = {
  http: createHttpDriver,
  log: createLogDriver,
  local: createLocalDriver,
  forgea_comment: createForgeaCommentDriver,
  email: createEmailDriver,
};

/** Targets that need no switching on. */
const ALWAYS_BOUND: readonly TargetPlan['driver'][] = ['log', 'local'];

const NO_BINDING: TargetBinding = {
  variant: null,
  home_channel: null,
  api_base: null,
  allow_http: false,
  credentials: {},
  options: {},
  retry_ambiguous: false,
  max_attempts: 1,
};

/** Links every binding; those with a problem are left out. Secrets are read here and only here. */
export function linkTargets(
  tables: TargetTables,
  secrets: SecretResolver,
  context: DeliveryContext,
): { readonly linked: LinkedTargets; readonly problems: readonly LinkProblem[] } {
  const problems: LinkProblem[] = [];
  const linked = new Map<string, ReadonlyMap<string, LinkedTarget>>();
  for (const profile of Object.values(tables.profiles)) {
    const drivers = new Map<string, LinkedTarget>();
    for (const plan of Object.values(tables.targets)) {
      const binding = bindingOf(profile, plan);
      if (binding === null) continue;
      const bound = bind({ profile: profile.name, plan, binding }, secrets);
      const driver = typeof bound === 'string' ? bound : DRIVERS[plan.driver](bound, context);
      if (typeof bound !== 'string' && typeof driver !== 'string') drivers.set(plan.name, { bound, driver });
      else problems.push({ profile: profile.name, target: plan.name, message: String(driver) });
    }
    linked.set(profile.name, drivers);
  }
  return { linked, problems };
}

function bindingOf(profile: ProfilePlan, plan: TargetPlan): TargetBinding | null {
  const { targets } = profile;
  const own = Object.hasOwn(targets, plan.name) ? targets[plan.name] : undefined;
  return own ?? (ALWAYS_BOUND.includes(plan.driver) ? NO_BINDING : null);
}

/** Line breaks and the like would end a header or a command: no service's credentials hold them. */
const CONTROL = /\p{Cc}/u;

function bind(
  target: Pick<BoundTarget, 'profile' | 'plan' | 'binding'>,
  resolver: SecretResolver,
): BoundTarget | string {
  const { credentials, options } = target.binding;
  const settings = new Map<string, string>();
  const secrets: string[] = [];
  for (const setting of target.plan.settings) {
    const { name } = setting;
    const ref = Object.hasOwn(credentials, name) ? credentials[name] : undefined;
    const option = Object.hasOwn(options, name) ? options[name] : undefined;
    const value = ref === undefined ? String(option ?? setting.default ?? '') : resolve(ref, resolver);
    if (typeof value !== 'string') return `${name}: ${value.error}`;
    if (value === '' && setting.required) return `${name} must be set`;
    if (value === '') continue;
    if (CONTROL.test(value)) return `${name} holds a line break or another control character`;
    settings.set(name, value);
    if (setting.secret) secrets.push(value);
  }
  return { ...target, settings, redact: createRedact(secrets) };
}

function resolve(ref: Parameters<SecretResolver['resolve']>[0], resolver: SecretResolver): string | { error: string } {
  try {
    return resolver.resolve(ref).trim();
  } catch (error) {
    if (error instanceof SecretError) return { error: error.message };
    throw error;
  }
}
