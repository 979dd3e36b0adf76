/** `hookwright webhook rotate-secret`: a new secret, with the old one accepted beside it for a while. */
import { argument, command, parsed, text, withDefault } from '../../command-line/command.ts';
import { configOption, jsonOption } from '../../command-line/options.ts';
import { parseDuration } from '../../command-line/values.ts';
import { printJson, printLine, printNote } from '../../output/print.ts';
import { subscriptionNamed } from '../../subscriptions/find-route.ts';
import { openTable } from '../../subscriptions/open-table.ts';
import { existing, newSecret, rotateSecret, saveEntry } from '../../subscriptions/save-entry.ts';

export default command({
  summary: 'Give a subscription a new secret; the old one stays valid for a while',
  details:
    'During the overlap events signed with either are accepted, and the log says which one matched (`secret: 0` is the new one). Rotating again during an overlap keeps the end of those before.',
  examples: [
    ['A day to change it at the sender', '$0 webhook rotate-secret alerts --overlap 24h'],
    ['The old one leaked: end it now', '$0 webhook rotate-secret alerts --overlap 0'],
  ],
  options: {
    overlap: withDefault(
      '24h',
      parsed('time', 'How long the old secret is accepted: 90s, 30m, 24h, 7d', parseDuration),
    ),
    secret: text('ref', 'env:NAME, file:path or a secret, instead of a generated one'),
    config: configOption,
    json: jsonOption,
  },
  args: { name: argument('subscription') },
  async run(context, given) {
    const open = await openTable(context, given.config);
    const name = subscriptionNamed(context.home, given.name, open);
    const fresh = given.secret ?? newSecret(context);
    const now = context.clock.now();
    const end = now + given.overlap;
    const { url } = await saveEntry(context, name, open, (before) =>
      rotateSecret(existing(name, open, before), { fresh, now, end, inherited: open.table.server.secret }),
    );
    const until = end > now ? new Date(end).toISOString() : null;
    const shown = given.secret === undefined ? fresh : null;
    if (given.json) printJson(context, { name, url, secret: shown, old_until: until });
    else if (shown !== null) printLine(context, shown);
    printNote(
      context,
      until === null ? 'the old secret is no longer accepted' : `the old secret is accepted until ${until}`,
    );
  },
});
