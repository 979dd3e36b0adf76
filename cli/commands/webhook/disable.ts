/** `hookwright webhook disable`: keep a subscription, and answer its events 403. */
import { argument, command } from '../../command-line/command.ts';
import { configOption } from '../../command-line/options.ts';
import { enableEntry } from '../../subscriptions/save-entry.ts';

export default command({
  summary: 'Keep a subscription, and answer its events 403',
  examples: [['Stop its events for a while', '$0 webhook disable alerts']],
  options: { config: configOption },
  args: { name: argument('subscription') },
  run: (context, given) => enableEntry(given, false, context),
});
