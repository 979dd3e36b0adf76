/** Where a target sends, for a person who approves a message to it: what is shown, and a digest that holds the message to it. */
import { createHash } from 'node:crypto';
import type { ShownPlace } from '../../../schemas/generated/types.ts';
import type { BoundTarget } from '../driver.ts';
import type { LinkedVariant } from './link-variant.ts';

/**
 * A service of one's own is shown with its path, and held to its whole URL, method and body; any other with its server, where
 * the configuration names it: a URL that is given may hold a key.
 */
export function shownPlace({ apiBase }: Pick<BoundTarget, 'apiBase'>, { plan, base }: LinkedVariant): ShownPlace {
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
