/** The context in which a route is linked, and the error for a route that cannot be linked. */

import { setImmediate } from 'node:timers/promises';
import type { RoutePlan, RouteTable, SchemePlan } from '../../schemas/generated/types.ts';
import type { SecretResolver } from '../platform/secrets.ts';
import type { CaptureSecret } from '../verify/handshake.ts';
import type { LinkedScheme } from '../verify/scheme.ts';
import type { FindDestination } from './held-place.ts';
import type { OpenList } from './link-filter.ts';
import type { LinkIdentity } from './link-identity.ts';
import type { Marks } from './link-template.ts';
import type { RateWindows } from './rate-limit.ts';

export interface LinkContext {
  /** `<home_dir>`. */
  readonly home: string;
  readonly secrets: SecretResolver;
  readonly windows: RateWindows;
  /** Links each scheme of the table once, for all its routes. */
  readonly linkScheme: (plan: SchemePlan) => LinkedScheme;
  /** Links the identity of a route with this source; see `identityLinker`. */
  readonly linkIdentity: LinkIdentity;
  readonly openList: OpenList;
  readonly place: FindDestination;
  /** Null: none of the routes has marked values. */
  readonly marks: Marks | null;
  /** True if the server listens on a loopback address only, and no proxy is configured. */
  readonly loopback: boolean;
  /** Accepts the secret that a source sends in its handshake; null if no command can wait for one. */
  readonly capture: ((plan: RoutePlan) => CaptureSecret) | null;
}

/** Why a route cannot be served. The message names the route and contains no secret. */
export class LinkError extends Error {
  override readonly name = 'LinkError';
}

/** The parts of a table that all its routes share. */
export type TableHeadPlan = Omit<RouteTable, 'routes'>;

/** @throws LinkError if the table has no scheme of this name */
export function schemeOf(name: string, plan: RoutePlan, table: Pick<TableHeadPlan, 'schemes'>): SchemePlan {
  const scheme = Object.hasOwn(table.schemes, name) ? table.schemes[name] : undefined;
  if (scheme === undefined) throw new LinkError(`route "${plan.name}": the table has no scheme "${name}"`);
  return scheme;
}

/** The request paths of a route. With multiplexed profiles, the default profile's routes are also below `/p/default`. */
export function routePaths(plan: Pick<RoutePlan, 'name' | 'profile' | 'callback'>, multiplex: boolean): string[] {
  const { name, profile, callback } = plan;
  if (callback !== undefined) return [name];
  const plain = profile === 'default' ? [`/webhooks/${name}`] : [];
  return multiplex ? [...plain, `/p/${profile}/webhooks/${name}`] : plain;
}

/** Number of routes in a batch; they take a few ms to parse, check or link. */
const BATCH = 32;

/** Calls `work` for one batch after another; rejects with the first error. */
export async function inBatches<T>(
  items: readonly T[],
  work: (batch: readonly T[]) => void | Promise<void>,
): Promise<void> {
  for (let at = 0; at < items.length; at += BATCH) {
    if (at > 0) await setImmediate();
    await work(items.slice(at, at + BATCH));
  }
}
