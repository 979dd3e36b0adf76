/** `hookwright webhook disable`: keep a subscription, and answer its events 403. */
import { Command, Option } from 'clipanion';
import type { CliContext } from '../../base/context.ts';
import { configOption } from '../../command-line/options.ts';
import { enableEntry } from '../../subscriptions/enable-entry.ts';

export class WebhookDisableCommand extends Command<CliContext> {
  static override paths = [['webhook', 'disable']];
  static override usage = Command.Usage({
    description: 'Keep a subscription, and answer its events 403',
    examples: [['Stop its events for a while', '$0 webhook disable alerts']],
  });

  name = Option.String({ name: 'subscription' });
  config = configOption();

  async execute(): Promise<number> {
    await enableEntry(this, false, this.context);
    return 0;
  }
}
