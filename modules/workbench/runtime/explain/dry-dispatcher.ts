/** A dispatcher without effect, for `explain` and tests: it returns the result that follows from the configuration. */
import { targetLabel } from '../../../../base/label.ts';
import type { Dispatcher } from '../../../../runtime/dispatch/dispatcher.ts';
import type { DispatchDelivery } from '../../../../schemas/generated/types.ts';

/** Why a delivery would fail whatever its text; null: it may succeed. */
export type RefusesDelivery = (profile: string, delivery: DispatchDelivery) => Promise<string | null> | string | null;

/** The result of firing a job. */
export type JobOutcome = 'accepted' | 'paused' | 'unknown_job';

export interface DryContext {
  readonly refusal: RefusesDelivery;
  readonly jobState: (profile: string, id: string) => Promise<JobOutcome> | JobOutcome;
}

/** There are no duplicates, the queue is empty, and every delivery with a usable address succeeds. */
export function createDryDispatcher({ refusal, jobState }: DryContext): Dispatcher {
  return {
    isKnownDone: () => false,
    refuseRepeat: async () => null,
    accept: async () => ({ kind: 'accepted' }),
    coalesce: async () => ({ kind: 'coalesced', superseded: 0 }),
    async deliver({ profile, deliveries }) {
      const refused = await Promise.all(deliveries.map((delivery) => refusal(profile, delivery)));
      const results = deliveries.map((delivery, index) => ({
        target: targetLabel(delivery),
        ok: refused[index] === null,
      }));
      return { kind: results.every(({ ok }) => ok) ? 'delivered' : 'failed', results };
    },
    fire: async ({ profile, job }) => ({ kind: await jobState(profile, job ?? '') }),
  };
}
