/** Repairs the counts of routes. */
import { isCount, isText } from '../decode.ts';
import { laneKey, routeLane } from '../identity.ts';
import { OPEN_STATES } from '../states.ts';
import { noCounts, TALLY_COLUMNS } from '../tally.ts';
import { keepDamaged } from './damaged-table.ts';
import type { Connection } from './driver.ts';
import { isLane, isName } from './row-checks.ts';

/** Counts all dispatches anew when the counts are no counts, or those of open work are not what is there. Returns whether it did. */
export function repairTallies(db: Connection, now: number): boolean {
  const stored = db.query(`SELECT profile, route, max_concurrent, ${TALLY_COLUMNS.join(', ')} FROM tally`).all();
  const limits = new Map<string, number | null>();
  const counted = new Map<string, string>();
  let isWrong = false;
  for (const [profile, route, limit, ...counts] of stored) {
    const lane = laneKey(String(profile), route === '' ? null : String(route));
    const isLimit = limit === null || (isCount(limit) && limit !== 0);
    if (isLimit) limits.set(lane, limit as number | null);
    isWrong ||= !isLimit || !isName(profile) || !isText(route) || !counts.every(isCount);
    const open = OPEN_STATES.map((state) => counts[TALLY_COLUMNS.indexOf(state)]);
    if (open.some((count) => count !== 0)) counted.set(lane, String(open));
  }
  const found = countOf(db, 'finished_at IS NULL');
  for (const [lane, counts] of found) {
    isWrong ||= counted.get(lane) !== String(OPEN_STATES.map((state) => counts[state]));
    counted.delete(lane);
  }
  if (!isWrong && counted.size === 0) return false;
  keepDamaged(db, 'tally', 'counts of routes', now, '1', []);
  db.exec('DELETE FROM tally');
  const put = db.change(
    `INSERT INTO tally (profile, route, max_concurrent, ${TALLY_COLUMNS.join(', ')}) ` +
      `VALUES (?, ?, ?, ${TALLY_COLUMNS.map(() => '?').join(', ')})`,
  );
  for (const [lane, counts] of countOf(db, '1')) {
    const [profile, route] = JSON.parse(lane) as [string, string | null];
    put(profile, route ?? '', limits.get(lane) ?? null, ...TALLY_COLUMNS.map((column) => counts[column]));
  }
  return true;
}

function countOf(db: Connection, where: string): ReadonlyMap<string, ReturnType<typeof noCounts>> {
  const lanes = new Map<string, ReturnType<typeof noCounts>>();
  for (const [lane, state, count] of db
    .query<[string, string, number]>(`SELECT lane, state, count(*) FROM work WHERE ${where} GROUP BY 1, 2`)
    .all()) {
    const column = TALLY_COLUMNS.find((name) => name === state);
    if (column === undefined || !isLane(lane)) continue;
    const counts = lanes.get(routeLane(lane)) ?? noCounts();
    lanes.set(routeLane(lane), counts);
    counts[column] += count;
    counts.accepted += count;
  }
  return lanes;
}
