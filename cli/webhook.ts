/** `hookwright webhook`: creates, lists and changes subscriptions, which are routes created at run time. */
import { writeJson } from '../base/exact-number.ts';
import { createPaint } from '../base/paint.ts';
import { needsPublicKey } from '../compiler/views/view-route.ts';
import type { RouteConfig } from '../schemas/generated/types.ts';
import type { CliContext } from './base/context.ts';
import type { ValuesOf } from './command-line/command.ts';
import { argument, command, flag, parsed, text, withDefault } from './command-line/command.ts';
import { configOption, jsonOption } from './command-line/options.ts';
import { parseDuration } from './command-line/values.ts';
import { printJson, printLine, printNote, visible } from './output/print.ts';
import { describeAction, printList } from './output/table.ts';
import {
  actionsOnRoutes,
  curlLine,
  describeState,
  listRoutes,
  openTable,
  strangerWarnings,
  subscriptionNamed,
  tryOpenTable,
} from './subscriptions/routes.ts';
import type { SavedEntry } from './subscriptions/save-entry.ts';
import {
  applyFlags,
  describeMode,
  enableEntry,
  existingEntry,
  newSecret,
  printWarnings,
  rotateSecret,
  SUBSCRIBE_OPTIONS,
  saveEntry,
  subscriptionNotFound,
} from './subscriptions/save-entry.ts';
import {
  asEntry,
  parseSubscriptions,
  readSubscriptionText,
  updateSubscriptions,
} from './subscriptions/subscription-file.ts';

const args = { name: argument('subscription') };

type Options = ValuesOf<typeof SUBSCRIBE_OPTIONS> & ValuesOf<typeof args>;

/** `hookwright webhook subscribe`: creates or changes a subscription, which is served from the next request on. */
export const webhookSubscribeCommand = command({
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
    printWarnings(context, [...saved.warnings, ...(await strangerWarnings(context, given.name, saved.entry, open))]);
    if (given.json) printJson(context, report(given, saved));
    else print(context, given, saved);
    return 0;
  },
});

function report(given: Options, saved: SavedEntry) {
  const { created, url, entry, plan } = saved;
  const secret = generated(given, saved) ? entry.secret : null;
  return { name: given.name, created, url, secret, mode: plan?.mode ?? null };
}

/** Whether the secret was generated here and has not been printed yet. */
function generated(given: Options, { created, entry }: SavedEntry): boolean {
  return created && given.secret === undefined && entry.secret !== undefined;
}

function print(context: CliContext, given: Options, saved: SavedEntry): void {
  const { created, url, entry, plan } = saved;
  const paint = createPaint(context.colour.stdout);
  const field = (name: string, text: string): void => printLine(context, `  ${paint('bold', name.padEnd(8))}${text}`);
  printLine(context, `${created ? 'Created' : 'Changed'} subscription ${visible(given.name)}`);
  field('URL', url);
  field('Secret', describeSecret(given, saved));
  if (plan !== null) field('Mode', describeMode(plan));
  if (entry.enabled === false) field('State', `disabled (hookwright webhook enable ${given.name})`);
  const curl = generated(given, saved) && plan !== null ? curlLine(plan, url, entry.secret ?? '') : null;
  field('Try', curl ?? `hookwright webhook test ${given.name}`);
}

function describeSecret(given: Options, saved: SavedEntry): string {
  const { created, entry } = saved;
  if (generated(given, saved)) return entry.secret ?? '';
  if (given.secret !== undefined) return 'from --secret';
  return created
    ? "none: verified with the sender's public key"
    : `unchanged (hookwright webhook show ${given.name} --reveal)`;
}

/** `hookwright webhook list`: the subscriptions and whether each is served. */
export const webhookListCommand = command({
  options: { all: flag('Include static routes'), config: configOption, json: jsonOption },
  async run(context, given) {
    const open = await openTable(context, given.config);
    const routes = listRoutes(context.home, open, given.all, await actionsOnRoutes(context, given.config));
    printList(context, routes, {
      json: given.json,
      columns: [
        { title: 'NAME', value: ({ name }) => name, whole: true },
        { title: 'STATE', value: describeState },
        { title: 'MODE', value: ({ mode }) => mode ?? '' },
        { title: 'SOURCE', value: ({ source }) => source ?? 'any', usual: 'any' },
        { title: 'EVENTS', value: ({ events }) => (events.length === 0 ? 'all' : events.join(',')), whole: true },
        { title: 'DELIVER', value: ({ deliver }) => deliver.join(','), whole: true },
        { title: 'PROFILE', value: ({ profile }) => profile, whole: true, usual: 'default' },
        {
          title: 'TOOLSETS',
          value: ({ toolsets }) => (toolsets === null ? 'default' : toolsets.join(',')),
          usual: 'default',
        },
        { title: 'URL', value: ({ url }) => url, whole: true },
      ],
      empty: 'no subscriptions; to create one: hookwright webhook subscribe <name>',
    });
  },
});

/** Printed instead of a secret. */
const HIDDEN = '(hidden; to show it: --reveal)';

/** `hookwright webhook show`: prints a subscription as stored, with its secrets only on request. */
export const webhookShowCommand = command({
  options: { reveal: flag('Show secrets'), config: configOption, json: jsonOption },
  args: { name: argument('subscription') },
  async run(context, given) {
    const { home } = context;
    const open = await openTable(context, given.config);
    const name = subscriptionNamed(home, given.name, open);
    const entries = parseSubscriptions(home, readSubscriptionText(home));
    const entry = entries.get(name);
    const row = listRoutes(home, open, false, await actionsOnRoutes(context, given.config)).find(
      (each) => each.name === name,
    );
    if (!entries.has(name) || row === undefined) throw subscriptionNotFound(name);
    const shown = given.reveal ? entry : withoutSecrets(entry);
    if (given.json) {
      printJson(context, { ...row, entry: shown });
      return;
    }
    printLine(context, `${visible(name)}: ${visible(describeState(row))}`);
    if (row.last_action !== null) printLine(context, describeAction(row.last_action));
    printLine(context, row.url);
    printLine(context, writeJson(shown, 2));
  },
});

/** A value that is not a map may be a misplaced secret. */
function withoutSecrets(value: unknown): unknown {
  const entry = asEntry(value);
  return entry === null ? HIDDEN : hideSecrets(entry);
}

/** References are printed, because they contain no secret. */
function hideSecrets(entry: RouteConfig): unknown {
  const hide = (value: unknown): unknown => (typeof value === 'string' && /^(env|file):/.test(value) ? value : HIDDEN);
  const inList = (item: unknown): unknown =>
    typeof item === 'object' && item !== null && 'value' in item ? { ...item, value: hide(item.value) } : hide(item);
  const ofKey = new Map([
    ['secret', hide],
    ['verify_token', hide],
    ['secrets', (value: unknown) => (Array.isArray(value) ? value.map(inList) : HIDDEN)],
  ]);
  return Object.fromEntries(Object.entries(entry).map(([key, value]) => [key, ofKey.get(key)?.(value) ?? value]));
}

/** `hookwright webhook remove`: removes a subscription; its events then get 404. */
export const webhookRemoveCommand = command({
  options: { config: configOption },
  args: { name: argument('subscription') },
  async run(context, given) {
    const open = await tryOpenTable(context, given.config);
    const name = subscriptionNamed(context.home, given.name, open);
    await updateSubscriptions(context, (entries) => {
      // Another command may have removed it in the meantime.
      if (!entries.has(name)) throw subscriptionNotFound(name);
      return { entries: new Map([...entries].filter(([each]) => each !== name)), result: null };
    });
    printNote(context, `removed ${visible(name)}`);
    return 0;
  },
});

/** `hookwright webhook enable`: lets a subscription accept events again. */
export const webhookEnableCommand = command({
  options: { config: configOption },
  args: { name: argument('subscription') },
  run: (context, given) => enableEntry(given, true, context),
});

/** `hookwright webhook disable`: keeps a subscription, but rejects its events with 403. */
export const webhookDisableCommand = command({
  options: { config: configOption },
  args: { name: argument('subscription') },
  run: (context, given) => enableEntry(given, false, context),
});

/** `hookwright webhook rotate-secret`: sets a new secret; the old one stays valid for a while. */
export const webhookRotateSecretCommand = command({
  options: {
    overlap: withDefault(
      '24h',
      parsed('time', 'How long the old secret is accepted: 90s, 30m, 24h, 7d', parseDuration),
    ),
    secret: text('ref', 'Secret: env:NAME, file:path or a literal; default: generated'),
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
      rotateSecret(existingEntry(name, open, before), { fresh, now, end, inherited: open.table.server.secret }),
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
