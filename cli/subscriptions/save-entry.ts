/** Creates or changes a subscription from command-line options, and saves it. */
import { parse } from 'yaml';
import { messageOf } from '../../base/errors.ts';
import { NO_AGENT } from '../../base/names.ts';
import { targetLabel } from '../../base/text.ts';
import type {
  BudgetConfig,
  CoalesceConfig,
  FilterConfig,
  RotatingSecret,
  RouteConfig,
  RoutePlan,
  SecretRef,
} from '../../schemas/generated/types.ts';
import type { CliContext } from '../base/context.ts';
import { CliError, UsageError } from '../base/errors.ts';
import type { ValuesOf } from '../command-line/command.ts';
import { list, text, toggle } from '../command-line/command.ts';
import {
  approveOption,
  budgetOption,
  chatIdOption,
  configOption,
  descriptionOption,
  jsonOption,
} from '../command-line/options.ts';
import { parseList } from '../command-line/values.ts';
import { printNote, visible } from '../output/print.ts';
import type { CheckedEntry, OpenTable } from './routes.ts';
import { checkEntry, openTable, publicRouteUrl, rejectStatic, strangerWarnings, subscriptionNamed } from './routes.ts';
import { asEntry, updateSubscriptions } from './subscription-file.ts';

export interface SavedEntry extends CheckedEntry {
  readonly created: boolean;
  readonly entry: RouteConfig;
  /** The secret for the sender. */
  readonly url: string;
}

/** Length of a generated secret in bytes; it is printed in hex. */
const SECRET_BYTES = 32;

export const newSecret = ({ random }: CliContext): string => random(SECRET_BYTES).toString('hex');

/** @param change returns the new entry for the old one @throws CliError if the new entry is invalid */
export async function saveEntry(
  context: CliContext,
  name: string,
  open: OpenTable,
  change: (before: RouteConfig | undefined) => RouteConfig,
): Promise<SavedEntry> {
  return updateSubscriptions(context, (entries) => {
    const before = entries.has(name) ? entryOf(name, entries.get(name)) : undefined;
    const entry = change(before);
    const checked = checkEntry(name, entry, before, open);
    const url = publicRouteUrl({ name, profile: checked.plan?.profile ?? entry.profile ?? 'default' }, open);
    return {
      entries: new Map([...entries, [name, entry]]),
      result: { ...checked, created: before === undefined, entry, url },
    };
  });
}

/** @throws CliError for a value that is not a map */
function entryOf(name: string, value: unknown): RouteConfig {
  const entry = asEntry(value);
  if (entry !== null) return entry;
  throw new CliError(`subscription "${name}" is not a map`, `remove it: hookwright webhook remove ${name}`);
}

/** Returns an existing entry to change. */
export function existingEntry(name: string, open: OpenTable, before: RouteConfig | undefined): RouteConfig {
  if (before !== undefined) return before;
  rejectStatic(name, open);
  throw subscriptionNotFound(name);
}

/** Describes how events of a route are processed, and where the results go. */
export function describeMode({ mode, deliver, cron_job, coalesce }: RoutePlan): string {
  const targets = deliver.map(targetLabel).join(', ');
  if (mode === 'cron') return `fires job ${cron_job}`;
  if (mode === 'direct') return `message to ${targets}`;
  if (mode === 'message') return `message to ${targets}, stored and retried`;
  return `agent run, answer to ${targets}${coalesce === null ? '' : ', coalesced'}`;
}

export function subscriptionNotFound(name: string): CliError {
  return new CliError(`there is no subscription "${name}"`, 'to list them: hookwright webhook list');
}

export function printWarnings(context: CliContext, warnings: readonly string[]): void {
  for (const warning of new Set(warnings)) printNote(context, `warning: ${visible(warning)}`);
}

/** @throws CliError if there is no such subscription */
export async function enableEntry(
  given: { readonly name: string; readonly config: readonly string[] | undefined },
  enabled: boolean,
  context: CliContext,
): Promise<void> {
  const open = await openTable(context, given.config);
  const name = subscriptionNamed(context.home, given.name, open);
  const { entry } = await saveEntry(context, name, open, (before) =>
    applyFlags(existingEntry(name, open, before), { enabled }),
  );
  if (enabled) printWarnings(context, await strangerWarnings(context, name, entry, open));
  printNote(context, `${enabled ? 'enabled' : 'disabled'} ${visible(name)}`);
}

interface Rotation {
  readonly fresh: string;
  /** Unix ms. */
  readonly now: number;
  /** Unix ms at which the old secret expires; at or before `now`, it expires immediately. */
  readonly end: number;
  /** The global secret, for an entry without a secret. */
  readonly inherited: SecretRef | null;
}

export function rotateSecret(entry: RouteConfig, { fresh, now, end, inherited }: Rotation): RouteConfig {
  const { secret, secrets, ...rest } = entry;
  const old: readonly RotatingSecret[] = secrets ?? (secret === undefined ? written(inherited) : [secret]);
  const unexpired = old.map((item) => endingAt(item, end)).filter(({ expires_at }) => Date.parse(expires_at) > now);
  return unexpired.length === 0 ? { ...rest, secret: fresh } : { ...rest, secrets: [fresh, ...unexpired] };
}

/** Keeps an earlier expiry. */
function endingAt(item: RotatingSecret, end: number): { readonly value: string; readonly expires_at: string } {
  const { value, expires_at } = typeof item === 'string' ? { value: item } : { ...item };
  const earlier = expires_at === undefined ? end : Math.min(end, Date.parse(expires_at));
  return { value, expires_at: new Date(earlier).toISOString() };
}

function written(ref: SecretRef | null): string[] {
  if (ref === null) return [];
  return [ref.kind === 'literal' ? ref.value : `${ref.kind}:${ref.value}`];
}

const REPEATABLE = 'repeatable';

/** The options of `webhook subscribe`. */
export const SUBSCRIBE_OPTIONS = {
  events: list(`types`, `Accepted event types or globs, separated by commas; ${REPEATABLE}`),
  prompt: text('template', 'Prompt, or message without an agent; {a.b} is a payload field'),
  deliver: text('target', 'Targets of the result, separated by commas'),
  deliverChatId: chatIdOption,
  approve: approveOption,
  deliverExtra: list(`key=value`, `Another key of deliver_extra, such as repo=… ; ${REPEATABLE}`),
  description: descriptionOption,
  deliverOnly: toggle('Run no agent: the prompt is the message (--no-deliver-only turns this off)'),
  agent: text(
    'name',
    'Agent to run, by its name in `agents`; `none`: run no agent, the prompt is the message, stored and retried',
  ),
  cronJob: text('job', 'Fire this job instead of running the prompt'),
  routeProfile: text('profile', 'Profile of the route'),
  mirrorToSession: toggle("Append deliveries to the chat's session"),
  script: text('name', 'Filter or transform script in scripts/'),
  skills: text('names', 'Skills of the agent, separated by commas'),
  filter: list(`yaml`, `Condition, such as '{field: action, equals: opened}'; ${REPEATABLE}`),
  coalesce: text('yaml', 'Key of a burst: a field, or {key, window_seconds, max_wait_seconds}'),
  sessionKey: text(
    'template',
    'Session key: runs with the same key run one at a time; a field, or a template such as {a.b}#{c}',
  ),
  budget: budgetOption,
  source: text(
    'source',
    'Sender, which fixes the signature scheme and the location of event type and delivery id (hookwright source list)',
  ),
  secret: text('ref', 'Secret: env:NAME, file:path or a literal; default: generated'),
  publicKey: text('ref', 'Public key of the sender: env:NAME, file:path or a literal'),
  verifyToken: text('ref', 'Token with which the sender verifies the URL: env:NAME, file:path or a literal'),
  enable: toggle('Accept events'),
  disable: toggle('Reject events with 403'),
  config: configOption,
  json: jsonOption,
};

/** The options; undefined if not set. An empty text removes a setting. */
export type SubscribeFlags = Partial<ValuesOf<typeof SUBSCRIBE_OPTIONS>> & { readonly enabled?: boolean | undefined };

/** Applies the options to an entry. Unknown keys, and `toolsets`, which has no option, stay. */
export function applyFlags(entry: RouteConfig, flags: SubscribeFlags): RouteConfig {
  const changes: Record<string, unknown> = {
    events: flags.events && orNothing(flags.events.flatMap(parseList)),
    prompt: flags.prompt && flags.prompt,
    description: flags.description,
    deliver: flags.deliver === undefined ? undefined : oneOrList(parseList(flags.deliver)),
    deliver_extra: deliverExtra(entry, flags),
    approve: flags.approve,
    ...modeOf(entry, flags),
    cron_job: flags.cronJob,
    profile: flags.routeProfile,
    mirror_to_session: flags.mirrorToSession,
    script: flags.script,
    skills: flags.skills === undefined ? undefined : orNothing(parseList(flags.skills)),
    filters: flags.filter && orNothing(flags.filter.filter((text) => text !== '').flatMap(parseFilter)),
    coalesce: flags.coalesce === undefined ? undefined : parseCoalesce(flags.coalesce),
    session_key: flags.sessionKey,
    budget: flags.budget === undefined ? undefined : parseBudget(flags.budget),
    source: flags.source,
    secret: flags.secret,
    public_key: flags.publicKey,
    verify_token: flags.verifyToken,
    enabled: flags.enabled,
  };
  const next: Record<string, unknown> = { ...entry };
  // A secret set by the user ends a rotation in progress.
  if (flags.secret !== undefined) delete next.secrets;
  for (const [key, value] of Object.entries(changes)) {
    if (value === undefined) continue;
    if (value === '' || value === NOTHING || value === DEFAULTS[key]) delete next[key];
    else next[key] = value;
  }
  return next as RouteConfig;
}

/** `deliver_only` and `agent: none` are two ways to send a message; setting one ends the other. */
function modeOf({ deliver_only, agent }: RouteConfig, flags: SubscribeFlags): Record<string, unknown> {
  const ends = {
    direct: deliver_only === true && Boolean(flags.agent),
    stored: agent === NO_AGENT && flags.deliverOnly,
  };
  return {
    deliver_only: flags.deliverOnly ?? (ends.direct ? false : undefined),
    agent: flags.agent ?? (ends.stored ? NOTHING : undefined),
  };
}

/** Marks a setting that was removed. */
const NOTHING = Symbol('nothing');
/** Default values, which are not written. */
const DEFAULTS: Readonly<Record<string, unknown>> = {
  approve: false,
  deliver_only: false,
  mirror_to_session: false,
  enabled: true,
};

const orNothing = <Item>(list: readonly Item[]): readonly Item[] | typeof NOTHING =>
  list.length === 0 ? NOTHING : list;

const oneOrList = (list: readonly string[]): string | readonly string[] => (list.length > 1 ? list : (list[0] ?? ''));

/** `--deliver-chat-id` and `--deliver-extra` change single keys; `key=` removes one. */
function deliverExtra(entry: RouteConfig, flags: SubscribeFlags): Record<string, unknown> | typeof NOTHING | undefined {
  const pairs = (flags.deliverExtra ?? []).map(parsePair);
  if (flags.deliverChatId !== undefined) pairs.push(['chat_id', flags.deliverChatId]);
  if (pairs.length === 0) return undefined;
  const extra: Record<string, unknown> = { ...entry.deliver_extra };
  for (const [key, value] of pairs) {
    if (value === '') delete extra[key];
    else extra[key] = value;
  }
  return Object.keys(extra).length === 0 ? NOTHING : extra;
}

function parsePair(text: string): [key: string, value: string] {
  const equals = text.indexOf('=');
  if (equals < 1) throw new UsageError(`--deliver-extra must be key=value, not "${text}"`);
  return [text.slice(0, equals), text.slice(equals + 1)];
}

function parseFilter(text: string): FilterConfig[] {
  const value = parseFlagYaml(text, '--filter', "'{field: action, equals: opened}'");
  return (Array.isArray(value) ? value : [value]) as FilterConfig[];
}

const parseBudget = (text: string): BudgetConfig | typeof NOTHING => (text === '' ? NOTHING : parseBudgetFlag(text));

/** The setting as a map, or only its key: `--coalesce pull_request.number`. */
function parseCoalesce(text: string): CoalesceConfig | typeof NOTHING {
  if (text === '') return NOTHING;
  if (/^[\w.-]+$/.test(text)) return { key: text };
  const value = parseFlagYaml(text, '--coalesce', "'{key: pull_request.number, window_seconds: 60}'");
  return value as CoalesceConfig;
}

/** Parses a map or list in YAML, such as `--filter '{field: action, equals: opened}'`. @throws UsageError */
function parseFlagYaml(text: string, flag: string, example: string): object {
  let value: unknown;
  try {
    value = parse(text, { logLevel: 'error', maxAliasCount: 10 });
  } catch (error) {
    throw new UsageError(
      `${flag} is not YAML: ${messageOf(error).split('\n')[0] ?? ''}`,
      `for instance ${flag} ${example}`,
    );
  }
  if (typeof value === 'object' && value !== null) return value;
  throw new UsageError(`${flag} must be a map, not "${text}"`, `for instance ${flag} ${example}`);
}

/** Its limits are checked with its entry. @throws UsageError */
export const parseBudgetFlag = (text: string): BudgetConfig =>
  parseFlagYaml(text, '--budget', "'{runs: 20, per: day}'") as BudgetConfig;
