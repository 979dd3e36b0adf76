/** `hookwright webhook disable`: keep a subscription, and answer its events 403. */
import { Command, Option } from 'clipanion';
import type { CliContext } from '../../base/context.ts';
import { configOption } from '../../command-line/options.ts';
import { printNote, visible } from '../../output/print.ts';
import { openTable } from '../../subscriptions/open-table.ts';
import { existing, saveEntry } from '../../subscriptions/save-entry.ts';
import { applyFlags } from '../../subscriptions/subscribe-flags.ts';

export class WebhookDisableCommand extends Command<CliContext> {
  static override paths = [['webhook', 'disable']];
  static override usage = Command.Usage({
    description: 'Keep a subscription, and answer its events 403',
    examples: [['Stop its events for a while', '$0 webhook disable alerts']],
  });

  name = Option.String({ name: 'subscription' });
  config = configOption();

  async execute(): Promise<number> {
    const open = await openTable(this.context, this.config);
    await saveEntry(this.context, this.name, open, (before) =>
      applyFlags(existing(this.name, open, before), { enabled: false }),
    );
    printNote(this.context, `disabled ${visible(this.name)}`);
    return 0;
  }
}
