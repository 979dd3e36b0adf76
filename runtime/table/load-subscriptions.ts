/** Checks and links the text of `webhook_subscriptions.json` over a table. */
import type { RoutePlan, RouteTable } from '../../schemas/generated/types.ts';
import { inBatches } from './batches.ts';
import type { LinkedRoutes, RoutePaths } from './link.ts';

export interface Rejected {
  readonly name: string;
  readonly reason: string;
}

/**
 * Validates and lowers the file's text, or the text of some of its entries, over a table.
 * @throws Error when the text is not an object of subscriptions.
 */
export type LowerSubscriptions = (
  text: string,
  table: RouteTable,
) => { readonly routes: readonly RoutePlan[]; readonly rejected: readonly Rejected[] };

export interface LoadContext {
  readonly lower: LowerSubscriptions;
  readonly link: (table: RouteTable, plans: readonly RoutePlan[]) => Promise<LinkedRoutes>;
}

export interface Loaded {
  readonly text: string;
  readonly table: RouteTable;
  readonly routes: RoutePaths;
  readonly rejected: readonly Rejected[];
}

/** Rejects when the text is not an object of subscriptions. */
export async function loadSubscriptions(
  { lower, link }: LoadContext,
  text: string,
  table: RouteTable,
): Promise<Loaded> {
  const plans: RoutePlan[] = [];
  const rejected: Rejected[] = [];
  const add = (lowered: ReturnType<LowerSubscriptions>): void => {
    plans.push(...lowered.routes.filter(({ name }) => !Object.hasOwn(table.routes, name)));
    rejected.push(...lowered.rejected);
  };
  const entries = entriesOf(text);
  if (entries === null) add(lower(text, table));
  else await inBatches(entries, (batch) => add(lower(JSON.stringify(Object.fromEntries(batch)), table)));
  const linked = await link(table, plans);
  return { text, table, routes: linked.routes, rejected: [...rejected, ...linked.rejected] };
}

/** The entries of the file; null when its text is not an object, which `lower` reports. */
function entriesOf(text: string): readonly [name: string, entry: unknown][] | null {
  try {
    const data: unknown = JSON.parse(text.replace(/^\ufeff/, ''));
    return typeof data === 'object' && data !== null && !Array.isArray(data) ? Object.entries(data) : null;
  } catch {
    return null;
  }
}
