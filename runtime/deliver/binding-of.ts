/** Finds the binding of a target in a profile, without loading any driver. */
import type { ProfilePlan, TargetBinding, TargetPlan } from '../../schemas/generated/types.ts';

/** Drivers whose targets are enabled in every profile. */
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

/** Null when the target is not enabled in this profile. */
export function bindingOf({ targets }: ProfilePlan, plan: TargetPlan): TargetBinding | null {
  const own = Object.hasOwn(targets, plan.name) ? targets[plan.name] : undefined;
  return own ?? (ALWAYS_BOUND.includes(plan.driver) ? NO_BINDING : null);
}
