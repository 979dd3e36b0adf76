/** `hookwright webhook subscribe`: creates or changes a dynamic route, which serves from the next request on. */
import { Command, Option } from 'clipanion';
import { createPaint } from '../../../base/paint.ts';
import { needsPublicKey } from '../../../compiler/views/view-route.ts';
import type { RouteTable } from '../../../schemas/generated/types.ts';
import type { CliContext } from '../../base/context.ts';
import { chatIdOption, configOption, descriptionOption, jsonOption } from '../../command-line/options.ts';
import { printJson, printLine, printNote, visible } from '../../output/print.ts';
import { curlLine } from '../../subscriptions/curl-line.ts';
import { openTable } from '../../subscriptions/open-table.ts';
import type { Saved } from '../../subscriptions/save-entry.ts';
import { describeMode, newSecret, saveEntry } from '../../subscriptions/save-entry.ts';
import type { SubscribeFlags } from '../../subscriptions/subscribe-flags.ts';
import { applyFlags } from '../../subscriptions/subscribe-flags.ts';

const REPEATABLE = 'repeatable';

export class WebhookSubscribeCommand extends Command<CliContext> {
  static override paths = [['webhook', 'subscribe']];
  static override usage = Command.Usage({
    description: 'Create or change a subscription: a route outside the configuration',
    details:
      'A new subscription gets a secret of its own, printed once. For one that exists, only what the flags say changes; an empty value takes a setting away. Checked by the rules of static routes before anything is written. A running gateway takes it in with the next request. There is no flag for toolsets: they can only be written into the file by hand.',
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
  });

  name = Option.String({ name: 'subscription' });
  events = Option.Array('--events', { description: `<types> Accepted event types, by comma or glob; ${REPEATABLE}` });
  prompt = Option.String('--prompt', {
    description: '<template> Prompt, or message with --deliver-only; {a.b} is filled in',
  });
  deliver = Option.String('--deliver', { description: '<target> Where the result goes; several by comma' });
  deliverChatId = chatIdOption();
  deliverExtra = Option.Array('--deliver-extra', {
    description: `<key=value> Further address parts, such as repo=… ; ${REPEATABLE}`,
  });
  description = descriptionOption();
  deliverOnly = Option.Boolean('--deliver-only', {
    description: 'No agent: deliver the prompt itself (--no-deliver-only)',
  });
  cronJob = Option.String('--cron-job', { description: '<job> Fire this job instead of running the prompt' });
  routeProfile = Option.String('--route-profile', { description: '<profile> Profile that runs it' });
  mirrorToSession = Option.Boolean('--mirror-to-session', {
    description: "Also append what is delivered to the chat's session",
  });
  script = Option.String('--script', { description: '<name> Filter or transform script below scripts/' });
  skills = Option.String('--skills', { description: '<names> Skills of the agent run, by comma' });
  filter = Option.Array('--filter', {
    description: `<yaml> Condition, such as '{field: action, equals: opened}'; ${REPEATABLE}`,
  });
  coalesce = Option.String('--coalesce', {
    description: '<yaml> Entity of a burst: a field, or {key, window_seconds, max_wait_seconds}',
  });
  source = Option.String('--source', {
    description: '<source> Who sends: its signature, event type and delivery id (hookwright source list)',
  });
  secret = Option.String('--secret', {
    description: '<ref> env:NAME, file:path or a secret, instead of a generated one',
  });
  publicKey = Option.String('--public-key', {
    description: '<ref> Of a source that signs with a private key: env:NAME, file:path or the key',
  });
  verifyToken = Option.String('--verify-token', {
    description: '<ref> Of a source that checks the URL with a token: env:NAME, file:path or the token',
  });
  enable = Option.Boolean('--enable', { description: 'Accept events (--disable answers them 403)' });
  disable = Option.Boolean('--disable', { description: 'Keep it, and answer its events 403' });
  config = configOption();
  json = jsonOption();

  async execute(): Promise<number> {
    const open = await openTable(this.context, this.config);
    const flags = this.flags();
    const saved = await saveEntry(this.context, this.name, open, (before) => {
      const entry = applyFlags(before ?? {}, flags);
      const given = entry.secret !== undefined || entry.secrets !== undefined || entry.public_key !== undefined;
      return before === undefined && !given && !needsPublicKey(entry, open.table)
        ? { ...entry, secret: newSecret(this.context) }
        : entry;
    });
    for (const warning of saved.warnings) printNote(this.context, `warning: ${visible(warning)}`);
    if (this.json) printJson(this.context, this.report(saved));
    else this.print(saved, open.table);
    return 0;
  }

  private flags(): SubscribeFlags {
    const enabled = this.enable ?? (this.disable === undefined ? undefined : !this.disable);
    return { ...this, enabled };
  }

  private report(saved: Saved) {
    const { created, url, entry, plan } = saved;
    const secret = this.generated(saved) ? entry.secret : null;
    return { name: this.name, created, url, secret, mode: plan?.mode ?? null };
  }

  /** The secret was generated here and has not been printed yet. */
  private generated({ created, entry }: Saved): boolean {
    return created && this.secret === undefined && entry.secret !== undefined;
  }

  private print(saved: Saved, table: RouteTable): void {
    const { created, url, entry, plan } = saved;
    const paint = createPaint(this.context.colour.stdout);
    const field = (name: string, text: string): void =>
      printLine(this.context, `  ${paint('bold', name.padEnd(8))}${text}`);
    printLine(this.context, `${created ? 'Created' : 'Changed'} subscription ${visible(this.name)}`);
    field('URL', url);
    field('Secret', this.describeSecret(saved));
    if (plan !== null) field('Mode', describeMode(plan, table));
    if (entry.enabled === false) field('State', `disabled (hookwright webhook enable ${this.name})`);
    const curl = this.generated(saved) && plan !== null ? curlLine(plan, url, entry.secret ?? '') : null;
    field('Try', curl ?? `hookwright webhook test ${this.name}`);
  }

  private describeSecret(saved: Saved): string {
    const { created, entry } = saved;
    if (this.generated(saved)) return entry.secret ?? '';
    if (this.secret !== undefined) return 'as given';
    return created
      ? "none: the sender's public key verifies"
      : `unchanged (hookwright webhook show ${this.name} --reveal)`;
  }
}
