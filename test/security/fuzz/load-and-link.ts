/** Loads and links the bytes of a table as a gateway does, with made-up secrets, for workers of the fuzz harness. */
import { systemClock } from '../../../runtime/clock.ts';
import { RateWindows } from '../../../runtime/intake/rate-limit.ts';
import { linkTable } from '../../../runtime/table/link.ts';
import type { LinkContext } from '../../../runtime/table/link-context.ts';
import { TableError } from '../../../runtime/table/load.ts';
import { Subscriptions } from '../../../runtime/table/subscriptions.ts';
import { Tables } from '../../../runtime/table/tables.ts';
import { schemeLinker } from '../../../runtime/verify/scheme.ts';
import { silentLog } from '../../helpers/log.ts';

/** Usable as a shared secret of any scheme that takes text. */
const SECRET = '0123456789abcdef0123456789abcdef';

export const linkContext = (): LinkContext => ({
  home: '/nonexistent',
  secrets: { resolve: (ref) => (ref.kind === 'literal' ? ref.value : SECRET) },
  windows: new RateWindows(),
  linkScheme: schemeLinker(),
  openList: () => ({ has: () => false }),
  loopback: true,
  capture: null,
});

const SUBSCRIPTIONS = new Subscriptions({
  path: '/nonexistent/webhook_subscriptions.json',
  stat: () => undefined,
  read: () => '{}',
  lower: () => ({ routes: [], rejected: [] }),
  link: () => ({ routes: new Map(), rejected: [] }),
  clock: systemClock,
  log: silentLog,
});

/**
 * @param links `whole`: every route to its last closure, as its first request does; `checked`: as a start does
 * @throws whatever is not a refusal of the table
 */
export async function loadAndLink(bytes: Buffer, links: 'whole' | 'checked'): Promise<void> {
  const tables = new Tables({
    path: '/nonexistent/routes.json',
    stat: () => undefined,
    read: async () => bytes,
    watch: () => () => {},
    link: (table, breather) => linkTable(table, linkContext(), breather),
    prepare: () => () => {},
    subscriptions: SUBSCRIPTIONS,
    clock: systemClock,
    log: silentLog,
    onLoad: () => {},
  });
  try {
    const { routes } = await tables.start();
    if (links === 'whole') for (const slot of routes.values()) void slot.linked;
  } catch (error) {
    if (!(error instanceof TableError)) throw error;
  } finally {
    tables.stop();
  }
}
