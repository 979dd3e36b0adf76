/**
 * Slots of rate windows: one row for each route. Each change is its own transaction, which does not wait for the disk, so
 * that the row is locked only during the statement. A crash of the server loses the latest counts.
 */
import type { SlotGrant, SlotRequest } from '../shared-window.ts';
import type { SnapshotReader } from './snapshot.ts';

const WINDOW = "interval '60 s'";
/** The number of slots granted when `free` of them are free. $2: limit; $3: needed; $4: ahead. */
const granted = (free: string): string =>
  `least($3::bigint, ${free}) + least($4::bigint, greatest(${free} - $3::bigint, 0) / 64)`;
/** A window in the future is from before the server's clock was set back. */
const IS_OVER = `w.opened_at NOT BETWEEN excluded.opened_at - ${WINDOW} AND excluded.opened_at + ${WINDOW}`;
const USED = `CASE WHEN ${IS_OVER} THEN 0 ELSE w.taken END`;
const FREE = `greatest($2::bigint - ${USED}, 0)`;
const TAKE =
  'INSERT INTO rate_window AS w (name, opened_at, taken, granted) ' +
  `VALUES ($1, clock_timestamp(), ${granted('$2::bigint')}, ${granted('$2::bigint')}) ON CONFLICT (name) DO UPDATE SET ` +
  `opened_at = CASE WHEN ${IS_OVER} THEN excluded.opened_at ELSE w.opened_at END, ` +
  `taken = ${USED} + ${granted(FREE)}, granted = ${granted(FREE)} ` +
  `RETURNING granted, taken, floor(1000 * extract(epoch FROM opened_at + ${WINDOW} - clock_timestamp()))::bigint AS left_ms`;
/** Removes the windows of routes that no longer exist. */
export const FORGET_WINDOWS = "DELETE FROM rate_window WHERE opened_at < clock_timestamp() - interval '1 day'";

/** Takes slots of a window. Rejects with StoreUnavailable. */
export async function takeSlots(db: SnapshotReader, { window, limit, needed, ahead }: SlotRequest): Promise<SlotGrant> {
  const [rows] = await db.ask<readonly (readonly SlotGrant[])[]>([TAKE, window, limit, needed, ahead]);
  const [grant] = rows ?? [];
  if (grant === undefined) throw new Error(`nothing is known of the window ${window}`);
  return grant;
}
