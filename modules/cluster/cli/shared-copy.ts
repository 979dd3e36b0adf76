/** Shared subscriptions, for commands: read from the database, and changed there first. */
import { existsSync } from 'node:fs';
import { messageOf } from '../../../base/message-of.ts';
import type { CliContext } from '../../../cli/base/context.ts';
import { CliError, refusalOf } from '../../../cli/base/errors.ts';
import type { PostgresPlan, SharedText } from '../../../cli/base/module.ts';
import { printNote, visible } from '../../../cli/output/print.ts';
import { StoreOutOfReach, UnknownStore, useSharedState } from '../../../cli/store/use-store.ts';
import { createSecrets } from '../../../runtime/platform/secrets/machine-secrets.ts';
import { copyParts } from '../runtime/open-shared.ts';
import {
  InvalidSubscriptions,
  openSubscriptions,
  SUBSCRIPTIONS,
  sealSubscriptions,
} from '../runtime/sealed-subscriptions.ts';
import type { CopyParts } from '../runtime/shared-subscriptions.ts';
import { pullSubscriptions } from '../runtime/shared-subscriptions.ts';

const LAST_SEEN = 'the subscriptions are those that this home has last seen';

/** Updates the home's copy from the database; if it is away, prints a note and keeps the copy. */
export async function refreshSubscriptions(context: CliContext, plan: PostgresPlan): Promise<void> {
  try {
    const pulled = await withShared(context, plan, { create: false }, (parts) =>
      pullSubscriptions(parts, false).catch((error: unknown) => {
        if (!(error instanceof InvalidSubscriptions)) throw error;
        printNote(context, `${error.message.replace('\n', '; ')}. ${LAST_SEEN}`);
        return null;
      }),
    );
    if (pulled?.problem != null) printNote(context, pulled.problem);
    const sealed = [...(pulled?.sealed ?? [])].map((name) => `"${visible(name)}"`).join(', ');
    if (sealed !== '') printNote(context, `cannot be decrypted with the gateway.store.key set here: ${sealed}`);
  } catch (error) {
    if (error instanceof UnknownStore) return;
    if (!(error instanceof StoreOutOfReach)) throw error;
    printNote(context, `${error.message}: ${LAST_SEEN}`);
  }
}

/** @throws CliError when the database cannot be used */
export async function useSubscriptions<T>(
  context: CliContext,
  plan: PostgresPlan,
  use: (read: () => Promise<SharedText>) => Promise<T>,
): Promise<T> {
  const result = await withShared(context, plan, { create: true }, async ({ documents, seal, path }) => ({
    value: await use(async () => {
      const { version, text } = await documents.read(SUBSCRIPTIONS);
      return {
        text: version === 0 ? null : openOrNull(context, text, { seal, path }),
        put: (next) => documents.replace(SUBSCRIPTIONS, version, sealed(next, seal)),
      };
    }),
  }));
  if (result === null) throw new Error('a database that is created has tables');
  return result.value;
}

/** Null where the home's copy replaces what is stored. @throws CliError for an invalid text where there is no copy */
function openOrNull(
  context: CliContext,
  text: string,
  { seal, path }: Pick<CopyParts, 'seal' | 'path'>,
): string | null {
  try {
    return openSubscriptions(text, seal).text;
  } catch (error) {
    if (!(error instanceof InvalidSubscriptions)) throw error;
    if (!existsSync(path)) throw refusalOf(error);
    const reason = error.message.split('\n', 1)[0];
    printNote(context, `${reason}: replaced with those that this home has last seen, and the change`);
    return null;
  }
}

function sealed(text: string, seal: CopyParts['seal']): string {
  try {
    return sealSubscriptions(text, seal);
  } catch (error) {
    throw new CliError(
      messageOf(error),
      'set gateway.store.key on every gateway (openssl rand -hex 32), or give the secret as a reference: --secret env:NAME',
    );
  }
}

const withShared = <T>(
  context: CliContext,
  plan: PostgresPlan,
  opening: { readonly create: boolean },
  use: (parts: CopyParts) => Promise<T>,
): Promise<T | null> =>
  useSharedState(context, plan, opening, ({ documents }) =>
    use({ ...copyParts(context, plan, createSecrets(context)), documents }),
  );
