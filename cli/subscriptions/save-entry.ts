/** Changes a subscription: checks the new entry, and writes it if it is valid. */
import { labelIn } from '../../base/label.ts';
import type { RotatingSecret, RouteConfig, RoutePlan, RouteTable, SecretRef } from '../../schemas/generated/types.ts';
import type { CliContext } from '../base/context.ts';
import { CliError } from '../base/errors.ts';
import { printNote, visible } from '../output/print.ts';
import { publicRouteUrl } from './address.ts';
import { checkEntry, refuseStatic } from './check-entry.ts';
import { subscriptionNamed } from './find-route.ts';
import type { OpenTable } from './open-table.ts';
import { openTable } from './open-table.ts';
import { applyFlags } from './subscribe-flags.ts';
import { asEntry, updateSubscriptions } from './subscription-file.ts';

export interface Saved {
  readonly created: boolean;
  readonly entry: RouteConfig;
  /** Null for an entry with keys that this version does not know. */
  readonly plan: RoutePlan | null;
  /** What a sender is given. */
  readonly url: string;
  readonly warnings: readonly string[];
}

/** Bytes of a generated secret; printed in hex. */
const SECRET_BYTES = 32;

export const newSecret = ({ random }: CliContext): string => random(SECRET_BYTES).toString('hex');

/** @param change makes the new entry of the old one. @throws CliError when the new entry is refused */
export async function saveEntry(
  context: CliContext,
  name: string,
  open: OpenTable,
  change: (before: RouteConfig | undefined) => RouteConfig,
): Promise<Saved> {
  return updateSubscriptions(context, (entries) => {
    const before = entries.has(name) ? entryOf(name, entries.get(name)) : undefined;
    const entry = change(before);
    const { plan, warnings } = checkEntry(name, entry, before, open);
    const url = publicRouteUrl({ name, profile: plan?.profile ?? entry.profile ?? 'default' }, open);
    return {
      entries: new Map([...entries, [name, entry]]),
      result: { created: before === undefined, entry, plan, url, warnings },
    };
  });
}

/** @throws CliError for a value that has no keys to change */
function entryOf(name: string, value: unknown): RouteConfig {
  const entry = asEntry(value);
  if (entry !== null) return entry;
  throw new CliError(`subscription "${name}" is not a map`, `remove it: hookwright webhook remove ${name}`);
}

/** For changes of an existing subscription. */
export function existing(name: string, open: OpenTable, before: RouteConfig | undefined): RouteConfig {
  if (before !== undefined) return before;
  refuseStatic(name, open);
  throw subscriptionNotFound(name);
}

/** How events of a route are processed, and where the results go. */
export function describeMode({ mode, deliver, cron_job, coalesce }: RoutePlan, table: RouteTable): string {
  const targets = deliver.map(({ target }) => labelIn(table.targets, target)).join(', ');
  if (mode === 'cron') return `fires job ${cron_job}`;
  if (mode === 'direct') return `message to ${targets}`;
  if (mode === 'message') return `message to ${targets}, stored and retried`;
  return `agent run, answer to ${targets}${coalesce === null ? '' : ', coalesced'}`;
}

export function subscriptionNotFound(name: string): CliError {
  return new CliError(`there is no subscription "${name}"`, 'hookwright webhook list shows them');
}

/** @throws CliError when there is no such subscription */
export async function enableEntry(
  given: { readonly name: string; readonly config: readonly string[] | undefined },
  enabled: boolean,
  context: CliContext,
): Promise<void> {
  const open = await openTable(context, given.config);
  const name = subscriptionNamed(context.home, given.name, open);
  await saveEntry(context, name, open, (before) => applyFlags(existing(name, open, before), { enabled }));
  printNote(context, `${enabled ? 'enabled' : 'disabled'} ${visible(name)}`);
}

export interface Rotation {
  readonly fresh: string;
  /** Unix ms. */
  readonly now: number;
  /** Unix ms at which the old secret expires; if it is not after `now`, it expires immediately. */
  readonly end: number;
  /** The global secret, for an entry that has none of its own. */
  readonly inherited: SecretRef | null;
}

export function rotateSecret(entry: RouteConfig, { fresh, now, end, inherited }: Rotation): RouteConfig {
  const { secret, secrets, ...rest } = entry;
  const old: readonly RotatingSecret[] = secrets ?? (secret === undefined ? written(inherited) : [secret]);
  const kept = old.map((item) => endingAt(item, end)).filter(({ expires_at }) => Date.parse(expires_at) > now);
  return kept.length === 0 ? { ...rest, secret: fresh } : { ...rest, secrets: [fresh, ...kept] };
}

/** An earlier expiry that was already set is kept. */
function endingAt(item: RotatingSecret, end: number): { readonly value: string; readonly expires_at: string } {
  const { value, expires_at } = typeof item === 'string' ? { value: item } : { ...item };
  const earlier = expires_at === undefined ? end : Math.min(end, Date.parse(expires_at));
  return { value, expires_at: new Date(earlier).toISOString() };
}

function written(ref: SecretRef | null): string[] {
  if (ref === null) return [];
  return [ref.kind === 'literal' ? ref.value : `${ref.kind}:${ref.value}`];
}
