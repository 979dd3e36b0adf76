/** Where a target sends, for a person who approves a message to it: what is shown, and a digest that holds the message to it. */
import { createHash } from 'node:crypto';
import { parseBaseUrl } from '../../../base/base-url.ts';
import type { RouteTable, ShownPlace } from '../../../schemas/generated/types.ts';
import type { FindPlace } from '../../table/held-place.ts';
import type { BoundTarget } from '../driver.ts';
import type { LinkedVariant } from './link-variant.ts';

/**
 * A service of one's own is shown with its path, and held to its whole URL, method and body; any other with its server, where
 * the configuration names it: a URL that is given may hold a key.
 */
export function shownPlace(
  { apiBase }: Pick<BoundTarget, 'apiBase'>,
  { plan, base }: Pick<LinkedVariant, 'plan' | 'base'>,
): ShownPlace {
  const { origin, path, query } = base;
  if (plan.webhook === undefined) {
    const isNamed = apiBase !== null || plan.base?.some(({ kind }) => kind === 'value') === true;
    return { ...(isNamed ? { url: origin } : {}), digest: digestOf([origin, path, query]) };
  }
  const sent = plan.requests.map(({ method, path: rest, body }) => ({ method, rest, body }));
  const rest = plan.requests.flatMap((request) => request.path);
  const url = rest.map((part) => (part.kind === 'text' ? part.text : `{${part.name || part.of}}`)).join('');
  // A query may hold a key.
  return { url: `${origin}${path}${url.replace(/\?.*/s, '')}`, digest: digestOf([origin, path, query, sent]) };
}

const digestOf = (of: unknown): string => createHash('sha256').update(JSON.stringify(of)).digest('hex').slice(0, 16);

/** What a table alone tells, without secrets: the URL of `http`, and home channels that it holds itself. */
export const placeInTable =
  ({ targets, profiles }: Pick<RouteTable, 'targets' | 'profiles'>): FindPlace =>
  (profile, target) => {
    const binding = profiles[profile]?.targets[target];
    if (binding === undefined) return null;
    const plan = targets[target]?.variants.find(
      ({ name, webhook }) => webhook !== undefined && name === binding.variant,
    );
    const [part] = plan?.base ?? [];
    const base = part?.kind === 'text' ? parseBaseUrl(part.text, { allowHttp: true, secret: false }) : '';
    const place = plan === undefined || typeof base === 'string' ? null : shownPlace({ apiBase: null }, { plan, base });
    return { place, home: binding.home_channel || null };
  };
