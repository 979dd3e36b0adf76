/** `hookwright webhook rotate-secret`: a new secret, with the old one accepted beside it for a while. */
import { Command, Option } from 'clipanion';
import type { CliContext } from '../../base/context.ts';
import { configOption, jsonOption } from '../../command-line/options.ts';
import { parseDuration, parsedBy } from '../../command-line/values.ts';
import { printJson, printLine, printNote } from '../../output/print.ts';
import { subscriptionNamed } from '../../subscriptions/find-route.ts';
import { openTable } from '../../subscriptions/open-table.ts';
import { rotateSecret } from '../../subscriptions/rotate-secret.ts';
import { existing, newSecret, saveEntry } from '../../subscriptions/save-entry.ts';

export class WebhookRotateSecretCommand extends Command<CliContext> {
  static override paths = [['webhook', 'rotate-secret']];
  static override usage = Command.Usage({
    description: 'Give a subscription a new secret; the old one stays valid for a while',
    details:
      'During the overlap events signed with either are accepted, and the log says which one matched (`secret: 0` is the new one). Rotating again during an overlap keeps the end of those before.',
    examples: [
      ['A day to change it at the sender', '$0 webhook rotate-secret alerts --overlap 24h'],
      ['The old one leaked: end it now', '$0 webhook rotate-secret alerts --overlap 0'],
    ],
  });

  name = Option.String({ name: 'subscription' });
  overlap = Option.String('--overlap', '24h', {
    description: '<time> How long the old secret is accepted: 90s, 30m, 24h, 7d',
    validator: parsedBy('--overlap', parseDuration),
  });
  secret = Option.String('--secret', {
    description: '<ref> env:NAME, file:path or a secret, instead of a generated one',
  });
  config = configOption();
  json = jsonOption();

  async execute(): Promise<number> {
    const open = await openTable(this.context, this.config);
    const name = subscriptionNamed(this.context.home, this.name, open);
    const fresh = this.secret ?? newSecret(this.context);
    const now = this.context.clock.now();
    const end = now + this.overlap;
    const { url } = await saveEntry(this.context, name, open, (before) =>
      rotateSecret(existing(name, open, before), { fresh, now, end, inherited: open.table.server.secret }),
    );
    const until = end > now ? new Date(end).toISOString() : null;
    const shown = this.secret === undefined ? fresh : null;
    if (this.json) printJson(this.context, { name, url, secret: shown, old_until: until });
    else if (shown !== null) printLine(this.context, shown);
    printNote(
      this.context,
      until === null ? 'the old secret is no longer accepted' : `the old secret is accepted until ${until}`,
    );
    return 0;
  }
}
