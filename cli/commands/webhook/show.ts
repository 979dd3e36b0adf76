/** `hookwright webhook show`: prints a subscription as it is in the file; its secrets only on request. */
import type { RouteConfig } from '../../../schemas/generated/types.ts';
import { argument, command, flag } from '../../command-line/command.ts';
import { configOption, jsonOption } from '../../command-line/options.ts';
import { printJson, printLine, visible } from '../../output/print.ts';
import { subscriptionNamed } from '../../subscriptions/find-route.ts';
import { describeState, listRoutes } from '../../subscriptions/list-routes.ts';
import { openTable } from '../../subscriptions/open-table.ts';
import { readPauses } from '../../subscriptions/pause-route.ts';
import { subscriptionNotFound } from '../../subscriptions/save-entry.ts';
import { asEntry, parseSubscriptions, readSubscriptionText } from '../../subscriptions/subscription-file.ts';

/** Printed in place of a secret. */
const HIDDEN = '(hidden; --reveal shows it)';

export default command({
  summary: 'Show one subscription; with --reveal its secrets too',
  examples: [
    ['What it is set to', '$0 webhook show alerts'],
    ['The secret to give to the sender', '$0 webhook show alerts --reveal'],
  ],
  options: { reveal: flag('Show secrets'), config: configOption, json: jsonOption },
  args: { name: argument('subscription') },
  async run(context, given) {
    const { home } = context;
    const open = await openTable(context, given.config);
    const name = subscriptionNamed(home, given.name, open);
    const entries = parseSubscriptions(home, readSubscriptionText(home));
    const entry = entries.get(name);
    const row = listRoutes(home, open, false, await readPauses(context, given.config)).find(
      (each) => each.name === name,
    );
    if (!entries.has(name) || row === undefined) throw subscriptionNotFound(name);
    const shown = given.reveal ? entry : withoutSecrets(entry);
    if (given.json) {
      printJson(context, { ...row, entry: shown });
      return;
    }
    printLine(context, `${visible(name)}: ${visible(describeState(row))}`);
    printLine(context, row.url);
    printLine(context, JSON.stringify(shown, null, 2));
  },
});

/** A value that is no map may be a secret in the wrong place. */
function withoutSecrets(value: unknown): unknown {
  const entry = asEntry(value);
  return entry === null ? HIDDEN : hideSecrets(entry);
}

/** References contain no secret and are printed. */
function hideSecrets(entry: RouteConfig): unknown {
  const hide = (value: unknown): unknown => (typeof value === 'string' && /^(env|file):/.test(value) ? value : HIDDEN);
  const inList = (item: unknown): unknown =>
    typeof item === 'object' && item !== null && 'value' in item ? { ...item, value: hide(item.value) } : hide(item);
  const { secret, secrets, verify_token } = entry as {
    readonly [Key in 'secret' | 'secrets' | 'verify_token']?: unknown;
  };
  return {
    ...entry,
    ...(secret === undefined ? {} : { secret: hide(secret) }),
    ...(verify_token === undefined ? {} : { verify_token: hide(verify_token) }),
    ...(secrets === undefined ? {} : { secrets: Array.isArray(secrets) ? secrets.map(inList) : HIDDEN }),
  };
}
