/** Links target plans with the credentials of each profile, so that a delivery can use those and no others (§5.4). */
import type { ProfilePlan, TargetPlan } from '../../schemas/generated/types.ts';
import type { SecretResolver } from '../platform/secrets/secrets.ts';
import { SecretError } from '../platform/secrets/secrets.ts';
import { bindingOf, bindTarget } from './bind-target.ts';
import type { BoundTarget, CreateDriver, DeliveryContext, Driver } from './driver.ts';
import { createEmailDriver } from './drivers/email.ts';
import { createForgeaCommentDriver } from './drivers/forgea-comment.ts';
import { createLocalDriver, createLogDriver } from './drivers/log.ts';
import { createHttpDriver } from './http/http-driver.ts';

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

/** A binding that cannot be used; `message` names the setting and its reference, never a value. */
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

/** Links every binding; those with a problem are left out. */
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
      const target = link({ profile: profile.name, plan, binding }, secrets, context);
      if (typeof target !== 'string') drivers.set(plan.name, target);
      else problems.push({ profile: profile.name, target: plan.name, message: target });
    }
    linked.set(profile.name, drivers);
  }
  return { linked, problems };
}

/** The linked target, or what is wrong with its binding. */
function link(
  unbound: Pick<BoundTarget, 'profile' | 'plan' | 'binding'>,
  secrets: SecretResolver,
  context: DeliveryContext,
): LinkedTarget | string {
  try {
    const bound = bindTarget(unbound, secrets);
    // A target with code may be reached in declared ways as well.
    const kind = bound.binding.variant === null ? bound.plan.driver : 'http';
    const driver = DRIVERS[kind](bound, context);
    return typeof driver === 'string' ? driver : { bound, driver };
  } catch (error) {
    if (error instanceof SecretError) return error.message;
    throw error;
  }
}
