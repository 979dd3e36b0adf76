/** How a dispatch ends once none of its deliveries is left: for the engines, and for deliveries stored with their answer. */
import { targetLabel } from '../../base/label.ts';
import type { Dispatch } from '../../schemas/generated/types.ts';
import type { Step } from './mutations.ts';

export interface DeliveryEnding {
  readonly state: 'done' | 'dead';
  /** Each delivery that was given up, with the reason of its last attempt; null when none was. */
  readonly reason: string | null;
}

/** The last attempt of each delivery decides; one that was never attempted was not wanted. */
export function endDelivering(
  deliveries: readonly Pick<Dispatch['deliveries'][number], 'target' | 'label'>[],
  steps: readonly Pick<Step, 'kind' | 'index' | 'outcome' | 'reason'>[],
): DeliveryEnding {
  const failed: string[] = [];
  for (const [index, delivery] of deliveries.entries()) {
    const last = steps.findLast((step) => step.kind === 'delivery' && step.index === index);
    if (last !== undefined && last.outcome !== 'ok')
      failed.push(`${targetLabel(delivery)}: ${last.reason ?? 'failed'}`);
  }
  return failed.length === 0 ? { state: 'done', reason: null } : { state: 'dead', reason: failed.join('; ') };
}
