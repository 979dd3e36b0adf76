/** Helpers of the rules about `deliver`, for routes and jobs. */
import type { TargetPlan } from '../../../schemas/generated/types.ts';
import type { DeliveryConfig, ExtraValue, WrittenTarget } from '../../config/deliveries.ts';
import { extraOf, namedTargets } from '../../config/deliveries.ts';
import type { TableContent } from '../../config/table-content.ts';
import type { NodePath } from '../../diagnostics/problem.ts';

/** Targets that only store the text. */
export const KEEPING_TARGETS: ReadonlySet<string> = new Set(['log', 'local']);

/** The path of `deliver`, or of one item of its list. */
export const deliverPath = (index: number | null): NodePath => (index === null ? ['deliver'] : ['deliver', index]);

/** An existing target of a route or job, with its values from `deliver_extra`. */
export interface DeliveryTarget extends WrittenTarget {
  readonly plan: TargetPlan;
  readonly extra: ReadonlyMap<string, ExtraValue>;
}

/** The targets of a route or job, without unknown ones. */
export function deliveryTargets(config: DeliveryConfig, table: TableContent): readonly DeliveryTarget[] {
  return namedTargets(config.deliver, table.target_names).flatMap(
    ({ target, ...written }): readonly DeliveryTarget[] => {
      const plan = target === null ? undefined : table.targets[target];
      if (plan === undefined) return [];
      return [{ ...written, plan, extra: extraOf(config.deliver_extra ?? {}, plan, table.target_names) }];
    },
  );
}
