/** Loads and links the bytes of a table as a gateway does, with made-up secrets, for workers of the fuzz harness. */
import { systemClock } from '../../../runtime/clock.ts';
import { RateWindows } from '../../../runtime/intake/rate-limit.ts';
import { Breather } from '../../../runtime/table/breather.ts';
import { linkTable } from '../../../runtime/table/link.ts';
import type { LinkContext } from '../../../runtime/table/link-context.ts';
import { identityLinker } from '../../../runtime/table/link-identity.ts';
import { loadTable, TableError } from '../../../runtime/table/load.ts';
import { schemeLinker } from '../../../runtime/verify/scheme.ts';

/** Usable as a shared secret of any scheme that takes text. */
const SECRET = '0123456789abcdef0123456789abcdef';

export const linkContext = (table: Parameters<typeof identityLinker>[0]): LinkContext => ({
  home: '/nonexistent',
  secrets: { resolve: (ref) => (ref.kind === 'literal' ? ref.value : SECRET) },
  windows: new RateWindows(),
  linkScheme: schemeLinker(),
  linkIdentity: identityLinker(table),
  openList: () => ({ has: () => false, refresh: () => null }),
  loopback: true,
  capture: null,
});

/**
 * @param links `whole`: every route to its last closure, as its first request does; `checked`: as a start does
 * @throws whatever is not a refusal of the table
 */
export async function loadAndLink(bytes: Buffer, links: 'whole' | 'checked'): Promise<void> {
  const breather = new Breather(systemClock);
  try {
    const plan = await loadTable(bytes, '', breather);
    if (plan === 'same') return;
    const { routes } = await linkTable(plan, linkContext(plan), breather);
    if (links === 'whole') for (const slot of routes.values()) void slot.linked;
  } catch (error) {
    if (!(error instanceof TableError)) throw error;
  }
}
