/** Computes the final state of a dispatch whose deliveries have all ended. */
import { targetLabel } from '../../base/label.ts';
import type { Dispatch } from '../../schemas/generated/types.ts';
import type { Step } from './mutations.ts';

export interface DeliveryEnding {
  readonly state: 'done' | 'dead';
  /** The deliveries that were given up, with the reason of the last attempt of each; null when there are none. */
  readonly reason: string | null;
}

/** The last attempt of each delivery decides. A delivery without any attempt counts as delivered. */
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
