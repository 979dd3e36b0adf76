/** `hookwright webhook enable`: let a subscription accept events again. */
import { argument, command } from '../../command-line/command.ts';
import { configOption } from '../../command-line/options.ts';
import { enableEntry } from '../../subscriptions/save-entry.ts';

export default command({
  summary: 'Let a subscription accept events again',
  examples: [['After `webhook disable`', '$0 webhook enable alerts']],
  options: { config: configOption },
  args: { name: argument('subscription') },
  run: (context, given) => enableEntry(given, true, context),
});
