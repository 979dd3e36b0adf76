/** `hookwright webhook enable`: let a subscription accept events again. */
import { Command, Option } from 'clipanion';
import type { CliContext } from '../../base/context.ts';
import { configOption } from '../../command-line/options.ts';
import { enableEntry } from '../../subscriptions/enable-entry.ts';

export class WebhookEnableCommand extends Command<CliContext> {
  static override paths = [['webhook', 'enable']];
  static override usage = Command.Usage({
    description: 'Let a subscription accept events again',
    examples: [['After `webhook disable`', '$0 webhook enable alerts']],
  });

  name = Option.String({ name: 'subscription' });
  config = configOption();

  async execute(): Promise<number> {
    await enableEntry(this, true, this.context);
    return 0;
  }
}
