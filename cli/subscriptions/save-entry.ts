/** Changes a subscription: checks the new entry, and writes it if it is valid. */
import { labelIn } from '../../base/label.ts';
import type { RouteConfig, RoutePlan, RouteTable } from '../../schemas/generated/types.ts';
import type { CliContext } from '../base/context.ts';
import { CliError } from '../base/errors.ts';
import { checkEntry, refuseStatic } from './check-entry.ts';
import type { OpenTable } from './open-table.ts';
import { publicRouteUrl } from './route-url.ts';
import { updateSubscriptions } from './subscription-file.ts';

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
    const before = entries.get(name);
    const entry = change(before);
    const { plan, warnings } = checkEntry(name, entry, before, open);
    const url = publicRouteUrl({ name, profile: plan?.profile ?? entry.profile ?? 'default' }, open);
    return {
      entries: new Map([...entries, [name, entry]]),
      result: { created: before === undefined, entry, plan, url, warnings },
    };
  });
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
  return `agent run, answer to ${targets}${coalesce === null ? '' : ', coalesced'}`;
}

export function subscriptionNotFound(name: string): CliError {
  return new CliError(`there is no subscription "${name}"`, 'hookwright webhook list shows them');
}
