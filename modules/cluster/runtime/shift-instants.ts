/** Converts the instants in the changes of commands from the machine's clock to the store's clock. */
import type { Mutation, Store, WrittenAs } from '../../../runtime/store/contract.ts';
import { wrapStore } from '../../../runtime/store/contract.ts';

/** Wraps a store for callers that use the machine's clock. @param offset how far that clock is behind the store's, in ms */
export function byMachineClock(store: Store, offset: () => number): Store {
  return wrapStore(store, {
    write: <M extends Mutation>(mutation: M, as?: WrittenAs) => store.write(shiftInstants(mutation, offset()) as M, as),
  });
}

function shiftInstants(mutation: Mutation, ms: number): Mutation {
  switch (mutation.kind) {
    case 'accept':
      return {
        ...mutation,
        ...shiftedEvent(mutation, ms),
        work: shiftedWork(mutation.work, ms),
        now: mutation.now + ms,
      };
    case 'fire_job':
      return { ...mutation, ...shiftedEvent(mutation, ms), now: mutation.now + ms };
    case 'resend':
    case 'change_delivery':
    case 'watch_job':
      return { ...mutation, now: mutation.now + ms };
    case 'pause_job':
    case 'pause_route': {
      const { until = null } = mutation;
      return { ...mutation, until: until === null ? null : until + ms, now: mutation.now + ms };
    }
    case 'put_guard':
      return {
        ...mutation,
        expires_at: mutation.expires_at === null ? null : mutation.expires_at + ms,
        now: mutation.now + ms,
      };
    case 'put_job':
      return { ...mutation, job: { ...mutation.job, created_at: mutation.job.created_at + ms } };
    default:
      return mutation;
  }
}

type Event = Pick<Extract<Mutation, { kind: 'accept' }>, 'dispatch' | 'claim'>;

const shiftedEvent = ({ dispatch, claim }: Event, ms: number): Event => ({
  dispatch: { ...dispatch, accepted_at: dispatch.accepted_at + ms },
  claim: claim === null ? null : { ...claim, expires_at: claim.expires_at + ms },
});

function shiftedWork(work: Extract<Mutation, { kind: 'accept' }>['work'], ms: number): typeof work {
  if (work.kind !== 'deliveries') return work;
  return { ...work, open: work.open.map((delivery) => ({ ...delivery, due_at: delivery.due_at + ms })) };
}
