/** Whether what travels through the database is signed as this machine expects, for `doctor`. */
import type { CliContext } from '../../../cli/base/context.ts';
import type { PostgresPlan } from '../../../cli/base/module.ts';
import { createSecrets } from '../../../runtime/platform/secrets/machine-secrets.ts';
import { ACTIVE_TABLE } from '../../../runtime/store/shared.ts';
import type { SharedState } from '../../../runtime/store/store.ts';
import { StoreRefused } from '../../../runtime/store/store.ts';
import { signaturesOf } from '../runtime/open-signatures.ts';
import { openClientStore } from '../runtime/postgres/client-store.ts';
import { SUBSCRIPTIONS } from '../runtime/sealed-subscriptions.ts';

/** Returns what is refused, and what to do about it. Rejects when the database cannot be used. */
export async function findRefused(context: CliContext, plan: PostgresPlan, url: string): Promise<readonly string[]> {
  const signatures = signaturesOf(context, plan, createSecrets(context));
  const store = await openClientStore({ url, schema: plan.schema, clock: context.clock, create: false, signatures });
  if (store === null || store.state === null) return [];
  const { documents, tables } = store.state;
  const checks = [
    () => documents.read(SUBSCRIPTIONS),
    () => loadActive(documents, tables),
    () => store.read({ kind: 'jobs' }),
  ];
  const found: string[] = [];
  try {
    for (const check of checks) {
      await check().catch((error: unknown) => {
        if (!(error instanceof StoreRefused)) throw error;
        found.push(error.message.replace('\n', '; '));
      });
    }
    return [...new Set([...found, ...signatures.refused])];
  } finally {
    await store.close();
  }
}

async function loadActive(documents: SharedState['documents'], tables: SharedState['tables']): Promise<void> {
  const { version, text } = await documents.read(ACTIVE_TABLE);
  if (version > 0) await tables.load(text, 'serve');
}
