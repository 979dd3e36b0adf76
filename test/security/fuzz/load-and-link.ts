/** Loads and links the bytes of a table like a gateway, with made-up secrets, for workers of the fuzz harness. */
import { marks } from '../../../modules/payloads/runtime/untrusted/markers.ts';
import { systemClock } from '../../../runtime/platform/clock.ts';
import { linkTable } from '../../../runtime/table/link.ts';
import type { LinkContext } from '../../../runtime/table/link-context.ts';
import { identityLinker } from '../../../runtime/table/link-identity.ts';
import { RateWindows } from '../../../runtime/table/rate-limit.ts';
import { TableError, tableFile } from '../../../runtime/table/table-source.ts';
import type { TableContext } from '../../../runtime/table/tables.ts';
import { Tables } from '../../../runtime/table/tables.ts';
import { schemeLinker } from '../../../runtime/verify/scheme.ts';
import type { RouteTable } from '../../../schemas/generated/types.ts';
import { silentLog } from '../../helpers/log.ts';

/** Usable as a shared secret of any scheme that takes text. */
const SECRET = '7c1e9a40d2f8b365a9e17f0c4d8b2360';

export const linkContext = (table: RouteTable): LinkContext => ({
  home: '/nonexistent',
  secrets: { resolve: (ref) => (ref.kind === 'literal' ? ref.value : SECRET) },
  windows: new RateWindows(),
  linkScheme: schemeLinker(),
  linkIdentity: identityLinker(table),
  openList: () => ({ has: () => false, refresh: () => null }),
  marks,
  place: () => null,
  loopback: true,
  capture: null,
});

/** A table without dynamic routes. */
const NO_SUBSCRIPTIONS = {
  routes: new Map(),
  loading: null,
  refresh: () => null,
  prepare: async () => () => {},
} as unknown as TableContext['subscriptions'];

/**
 * @param links `whole`: every route completely, like its first request; `checked`: like a start
 * @throws any error that is not a rejection of the table
 */
export async function loadAndLink(bytes: Buffer, links: 'whole' | 'checked'): Promise<void> {
  const tables = new Tables({
    source: tableFile(
      '/nonexistent/routes.json',
      { stat: () => undefined, read: async () => bytes, watch: () => () => {} },
      systemClock,
    ),
    link: (table) => linkTable(table, linkContext(table)),
    prepare: async () => () => {},
    subscriptions: NO_SUBSCRIPTIONS,
    clock: systemClock,
    log: silentLog,
    onLoad: () => {},
  });
  try {
    await tables.loadFirst();
    await tables.begin();
    const { routes } = tables.serving;
    if (links === 'whole') for (const slot of routes.values()) void slot.linked;
  } catch (error) {
    if (!(error instanceof TableError)) throw error;
  } finally {
    tables.stop();
  }
}
