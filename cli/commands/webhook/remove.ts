/** `hookwright webhook remove`: removes a subscription; its next event is answered like one for an unknown route. */
import { Command, Option } from 'clipanion';
import type { CliContext } from '../../base/context.ts';
import { configOption } from '../../command-line/options.ts';
import { printNote, visible } from '../../output/print.ts';
import { subscriptionNamed } from '../../subscriptions/find-route.ts';
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
    const name = subscriptionNamed(this.context.home, this.name, open);
    await updateSubscriptions(this.context, (entries) => {
      // Another command may have removed it since.
      if (!entries.has(name)) throw subscriptionNotFound(name);
      return { entries: new Map([...entries].filter(([each]) => each !== name)), result: null };
    });
    printNote(this.context, `removed ${visible(name)}`);
    return 0;
  }
}
