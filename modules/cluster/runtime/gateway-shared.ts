/** Keeps the home's subscriptions up to date with a shared database. */
import { join } from 'node:path';
import { messageOf } from '../../../base/message-of.ts';
import type { Clock } from '../../../runtime/platform/clock.ts';
import type { Logger } from '../../../runtime/platform/log.ts';
import { createSeal } from '../../../runtime/platform/secrets/seal.ts';
import type { SecretResolver } from '../../../runtime/platform/secrets/secrets.ts';
import type { Store } from '../../../runtime/store/store.ts';
import { StoreRefused } from '../../../runtime/store/store.ts';
import type { RouteTable } from '../../../schemas/generated/types.ts';
import type { CopyParts } from './shared-subscriptions.ts';
import { SharedSubscriptions } from './shared-subscriptions.ts';

/** How long to wait for another writer of the copy, in ms. */
const LOCK_MS = 60_000;

interface SharingContext {
  readonly home: string;
  readonly clock: Clock;
  readonly log: Logger;
}

/** The parts of a copy of the subscriptions. @throws StoreRefused when the key cannot be used */
export function copyParts(
  { home, clock }: Omit<SharingContext, 'log'>,
  documents: CopyParts['documents'],
  plan: RouteTable['gateway']['store'],
  secrets: SecretResolver,
): CopyParts {
  const key = plan.kind === 'postgres' ? plan.key : null;
  return {
    documents,
    path: join(home, 'webhook_subscriptions.json'),
    seal: key === null ? null : usable(() => createSeal(secrets.resolve(key))),
    async lock() {
      const { waitForLock } = await import('../../../runtime/store/sqlite/file-lock.ts');
      const lock = await waitForLock(join(home, 'run', 'subscriptions.lock'), LOCK_MS, clock);
      if (lock === null) throw new Error('another process is changing the subscriptions and does not finish');
      return lock;
    },
  };
}

/** Null when the store is not shared. While the database is unavailable, the previous copy is served. */
export async function shareSubscriptions(
  context: SharingContext,
  store: Pick<Store, 'state' | 'problem'>,
  { gateway }: RouteTable,
  secrets: SecretResolver,
): Promise<SharedSubscriptions | null> {
  if (store.state === null) return null;
  const { documents } = store.state;
  const shared = new SharedSubscriptions(copyParts(context, documents, gateway.store, secrets), context);
  const started = shared.start();
  if (store.problem() === null) await started;
  return shared;
}

function usable<T>(make: () => T): T {
  try {
    return make();
  } catch (error) {
    throw new StoreRefused(messageOf(error));
  }
}
