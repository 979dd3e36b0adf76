/** Reads the clock of the database, which all gateways follow. */
import type { Clock } from '../../../../runtime/platform/clock.ts';
import type { SharedClock } from '../../../../runtime/platform/shared-clock.ts';
import type { PgConnection } from './driver.ts';

const NOW = 'SELECT extract(epoch FROM clock_timestamp())::float8 * 1000 AS now';

/** @param follow called with Unix ms, and the monotonic times before and after the query */
export async function readServerTime(db: PgConnection, clock: Clock, follow: SharedClock['follow']): Promise<void> {
  const asked = clock.monotonic();
  const [row] = await db.query<{ now: number }>(NOW);
  if (row !== undefined) follow(row.now, { asked, answered: clock.monotonic() });
}
