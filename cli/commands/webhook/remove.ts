/** `hookwright webhook remove`: takes a subscription away; its next event is answered like any unknown route. */
import { Command, Option } from 'clipanion';
import type { CliContext } from '../../base/context.ts';
import { configOption } from '../../command-line/options.ts';
import { printNote, visible } from '../../output/print.ts';
import { refuseStatic } from '../../subscriptions/check-entry.ts';
import { tryOpenTable } from '../../subscriptions/open-table.ts';
import { subscriptionNotFound } from '../../subscriptions/save-entry.ts';
import { updateSubscriptions } from '../../subscriptions/subscription-file.ts';

export class WebhookRemoveCommand extends Command<CliContext> {
  static override paths = [['webhook', 'remove']];
  static override usage = Command.Usage({
    description: 'Remove a subscription',
    details: 'Static routes are refused: they are removed where they are written.',
    examples: [['Events are answered 404 from now on', '$0 webhook remove alerts']],
  });

  name = Option.String({ name: 'subscription' });
  config = configOption();

  async execute(): Promise<number> {
    const open = await tryOpenTable(this.context, this.config);
    await updateSubscriptions(this.context, (entries) => {
      if (!entries.has(this.name)) {
        if (open !== null) refuseStatic(this.name, open);
        throw subscriptionNotFound(this.name);
      }
      return { entries: new Map([...entries].filter(([name]) => name !== this.name)), result: null };
    });
    printNote(this.context, `removed ${visible(this.name)}`);
    return 0;
  }
}
