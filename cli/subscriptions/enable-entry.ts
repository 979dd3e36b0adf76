/** Enables or disables a subscription, for `webhook enable` and `webhook disable`. */
import type { CliContext } from '../base/context.ts';
import { printNote, visible } from '../output/print.ts';
import { subscriptionNamed } from './find-route.ts';
import { openTable } from './open-table.ts';
import { existing, saveEntry } from './save-entry.ts';
import { applyFlags } from './subscribe-flags.ts';

interface SubscriptionReference {
  readonly name: string;
  readonly config: readonly string[] | undefined;
}

/** @throws CliError when there is no such subscription */
export async function enableEntry(
  { name: asked, config }: SubscriptionReference,
  enabled: boolean,
  context: CliContext,
): Promise<void> {
  const open = await openTable(context, config);
  const name = subscriptionNamed(context.home, asked, open);
  await saveEntry(context, name, open, (before) => applyFlags(existing(name, open, before), { enabled }));
  printNote(context, `${enabled ? 'enabled' : 'disabled'} ${visible(name)}`);
}
