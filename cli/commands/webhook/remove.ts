/** `hookwright webhook remove`: removes a subscription; its next event is answered like one for an unknown route. */
import { argument, command } from '../../command-line/command.ts';
import { configOption } from '../../command-line/options.ts';
import { printNote, visible } from '../../output/print.ts';
import { subscriptionNamed } from '../../subscriptions/find-route.ts';
import { tryOpenTable } from '../../subscriptions/open-table.ts';
import { subscriptionNotFound } from '../../subscriptions/save-entry.ts';
import { updateSubscriptions } from '../../subscriptions/subscription-file.ts';

export default command({
  summary: 'Remove a subscription',
  details: 'Static routes are refused: they are removed where they are written.',
  examples: [['Events are answered 404 from now on', '$0 webhook remove alerts']],
  options: { config: configOption },
  args: { name: argument('subscription') },
  async run(context, given) {
    const open = await tryOpenTable(context, given.config);
    const name = subscriptionNamed(context.home, given.name, open);
    await updateSubscriptions(context, (entries) => {
      // Another command may have removed it since.
      if (!entries.has(name)) throw subscriptionNotFound(name);
      return { entries: new Map([...entries].filter(([each]) => each !== name)), result: null };
    });
    printNote(context, `removed ${visible(name)}`);
    return 0;
  },
});
