/** `hookwright webhook subscribe`: creates or changes a dynamic route, which serves from the next request on. */
import { createPaint } from '../../../base/paint.ts';
import { needsPublicKey } from '../../../compiler/views/view-route.ts';
import type { RouteTable } from '../../../schemas/generated/types.ts';
import type { CliContext } from '../../base/context.ts';
import type { GivenBy } from '../../command-line/command.ts';
import { argument, command } from '../../command-line/command.ts';
import { printJson, printLine, printNote, visible } from '../../output/print.ts';
import { curlLine } from '../../subscriptions/address.ts';
import { strangerWarnings } from '../../subscriptions/check-entry.ts';
import { openTable } from '../../subscriptions/open-table.ts';
import type { Saved } from '../../subscriptions/save-entry.ts';
import { describeMode, newSecret, saveEntry } from '../../subscriptions/save-entry.ts';
import { applyFlags, SUBSCRIBE_OPTIONS } from '../../subscriptions/subscribe-flags.ts';

const args = { name: argument('subscription') };

type Given = GivenBy<typeof SUBSCRIBE_OPTIONS> & GivenBy<typeof args>;

export default command({
  summary: 'Create or change a subscription: a route outside the configuration',
  details:
    'A new subscription gets a secret of its own, printed once. For one that exists, only what the flags say changes; an empty value takes a setting away, and `--agent` ends `--deliver-only`, as `--deliver-only` ends `--agent none`. Checked by the rules of static routes before anything is written. A running gateway takes it in with the next request. There is no flag for toolsets: they can only be written into the file by hand.',
  examples: [
    [
      'Summaries of pull requests',
      "$0 webhook subscribe reviews --events pull_request --prompt 'Review {pull_request.title}'",
    ],
    [
      'Alerts straight to a group',
      "$0 webhook subscribe alerts --deliver telegram --deliver-chat-id -100200 --deliver-only --prompt '{message}'",
    ],
    [
      'Only what is opened, once per burst',
      "$0 webhook subscribe reviews --filter '{field: action, equals: opened}' --coalesce pull_request.number",
    ],
    [
      'Events of one sender, signed as it signs',
      '$0 webhook subscribe payments --source stripe --secret env:STRIPE_SECRET',
    ],
    ['Fire a job', '$0 webhook subscribe deploys --events deployment --cron-job smoke-test'],
  ],
  options: SUBSCRIBE_OPTIONS,
  args,
  async run(context, given) {
    const open = await openTable(context, given.config);
    const enabled = given.enable ?? (given.disable === undefined ? undefined : !given.disable);
    const saved = await saveEntry(context, given.name, open, (before) => {
      const entry = applyFlags(before ?? {}, { ...given, enabled });
      const hasSecret = entry.secret !== undefined || entry.secrets !== undefined || entry.public_key !== undefined;
      return before === undefined && !hasSecret && !needsPublicKey(entry, open.table)
        ? { ...entry, secret: newSecret(context) }
        : entry;
    });
    const strangers = await strangerWarnings(context, given.name, saved.entry, open);
    for (const warning of new Set([...saved.warnings, ...strangers]))
      printNote(context, `warning: ${visible(warning)}`);
    if (given.json) printJson(context, report(given, saved));
    else print(context, given, saved, open.table);
    return 0;
  },
});

function report(given: Given, saved: Saved) {
  const { created, url, entry, plan } = saved;
  const secret = generated(given, saved) ? entry.secret : null;
  return { name: given.name, created, url, secret, mode: plan?.mode ?? null };
}

/** The secret was generated here and has not been printed yet. */
function generated(given: Given, { created, entry }: Saved): boolean {
  return created && given.secret === undefined && entry.secret !== undefined;
}

function print(context: CliContext, given: Given, saved: Saved, table: RouteTable): void {
  const { created, url, entry, plan } = saved;
  const paint = createPaint(context.colour.stdout);
  const field = (name: string, text: string): void => printLine(context, `  ${paint('bold', name.padEnd(8))}${text}`);
  printLine(context, `${created ? 'Created' : 'Changed'} subscription ${visible(given.name)}`);
  field('URL', url);
  field('Secret', describeSecret(given, saved));
  if (plan !== null) field('Mode', describeMode(plan, table));
  if (entry.enabled === false) field('State', `disabled (hookwright webhook enable ${given.name})`);
  const curl = generated(given, saved) && plan !== null ? curlLine(plan, url, entry.secret ?? '') : null;
  field('Try', curl ?? `hookwright webhook test ${given.name}`);
}

function describeSecret(given: Given, saved: Saved): string {
  const { created, entry } = saved;
  if (generated(given, saved)) return entry.secret ?? '';
  if (given.secret !== undefined) return 'as given';
  return created
    ? "none: the sender's public key verifies"
    : `unchanged (hookwright webhook show ${given.name} --reveal)`;
}
