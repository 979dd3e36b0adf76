/** `hookwright webhook enable`: let a subscription accept events again. */
import { Command, Option } from 'clipanion';
import type { CliContext } from '../../base/context.ts';
import { configOption } from '../../command-line/options.ts';
import { printNote, visible } from '../../output/print.ts';
import { openTable } from '../../subscriptions/open-table.ts';
import { existing, saveEntry } from '../../subscriptions/save-entry.ts';
import { applyFlags } from '../../subscriptions/subscribe-flags.ts';

export class WebhookEnableCommand extends Command<CliContext> {
  static override paths = [['webhook', 'enable']];
  static override usage = Command.Usage({
    description: 'Let a subscription accept events again',
    examples: [['After `webhook disable`', '$0 webhook enable alerts']],
  });

  name = Option.String({ name: 'subscription' });
  config = configOption();

  async execute(): Promise<number> {
    const open = await openTable(this.context, this.config);
    await saveEntry(this.context, this.name, open, (before) =>
      applyFlags(existing(this.name, open, before), { enabled: true }),
    );
    printNote(this.context, `enabled ${visible(this.name)}`);
    return 0;
  }
}
