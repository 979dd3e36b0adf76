/**
 * Slots of rate windows: one guarded row for each route, in a transaction of its own that does not wait for the disk, so
 * that gateways hold the row for no longer than the statement takes. A crash of the server loses the latest counts.
 */
import type { SlotGrant, SlotRequest } from '../rate-slots.ts';
import type { SnapshotReader } from './snapshot.ts';

const WINDOW = "interval '60 s'";
/** $2 of a window, $3 needed and $4 ahead: how many are granted where so many are free. */
const granted = (free: string): string =>
  `least($3::bigint, ${free}) + least($4::bigint, greatest(${free} - $3::bigint, 0) / 64)`;
/** A window in the future is one of before the server's clock was set back. */
const IS_OVER = `w.opened_at NOT BETWEEN excluded.opened_at - ${WINDOW} AND excluded.opened_at + ${WINDOW}`;
const USED = `CASE WHEN ${IS_OVER} THEN 0 ELSE w.taken END`;
const FREE = `greatest($2::bigint - ${USED}, 0)`;
const TAKE =
  'INSERT INTO rate_window AS w (name, opened_at, taken, granted) ' +
  `VALUES ($1, clock_timestamp(), ${granted('$2::bigint')}, ${granted('$2::bigint')}) ON CONFLICT (name) DO UPDATE SET ` +
  `opened_at = CASE WHEN ${IS_OVER} THEN excluded.opened_at ELSE w.opened_at END, ` +
  `taken = ${USED} + ${granted(FREE)}, granted = ${granted(FREE)} ` +
  `RETURNING granted, taken, floor(1000 * extract(epoch FROM opened_at + ${WINDOW} - clock_timestamp()))::bigint AS left_ms`;
/** Removes the windows of routes that are gone. */
export const FORGET_WINDOWS = "DELETE FROM rate_window WHERE opened_at < clock_timestamp() - interval '1 day'";

export async function takeSlots(db: SnapshotReader, { window, limit, needed, ahead }: SlotRequest): Promise<SlotGrant> {
  const [rows] = await db.ask<readonly (readonly SlotGrant[])[]>([TAKE, window, limit, needed, ahead]);
  const [grant] = rows ?? [];
  if (grant === undefined) throw new Error(`nothing is known of the window ${window}`);
  return grant;
}
