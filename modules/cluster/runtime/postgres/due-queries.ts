/**
 * The queries of each `take_work`, the same for runs and delivery attempts. They use partial indexes over waiting rows, so
 * that their cost does not grow with the ended ones.
 */

/**
 * Returns each lane with waiting rows, with its earliest due time, the earliest after $1, and up to $3 of its rows that are
 * due at $1, ordered by their first row. It walks from lane to lane through the index. $2: the holder.
 */
function dueLanes(table: string, waiting: string, [key, columns]: readonly [string, string], more: string): string {
  const first = `SELECT lane, due_at, ${key} FROM ${table} WHERE ${waiting}`;
  const order = `ORDER BY lane, due_at, ${key} LIMIT 1`;
  const ofLane = `FROM ${table} WHERE ${waiting} AND lane = l.lane`;
  return (
    `WITH RECURSIVE lanes AS ((${first} ${order}) UNION ALL SELECT following.* FROM lanes l ` +
    `CROSS JOIN LATERAL (${first} AND lane > l.lane ${order}) following) SELECT l.lane, l.due_at, ` +
    `(SELECT min(due_at) ${ofLane} AND due_at > $1) AS later, (SELECT coalesce(json_agg(d), '[]') FROM ` +
    `(SELECT ${key}${columns} ${ofLane} AND due_at <= $1 ORDER BY due_at, ${key} LIMIT $3) d) AS due, ${more} ` +
    `FROM lanes l ORDER BY due_at, ${key}`
  );
}

/** As `routeLane`. */
export const routeLaneOf = (lane: string): string => `split_part(${lane}, chr(10), 1)`;

export const DUE_RUNS = dueLanes(
  'work',
  "state = 'pending' AND blocked_by IS NULL",
  ['ref', ', group_key IS NOT NULL AS grouped'],
  `(SELECT max_concurrent FROM lane c WHERE c.lane = ${routeLaneOf('l.lane')}) AS max_concurrent, $2::text AS holder`,
);

export const DUE_ATTEMPTS = dueLanes(
  'delivery',
  'holder IS NULL',
  ['ref, n', ''],
  '(SELECT count(*) FROM delivery WHERE holder = $2 AND lane = l.lane) AS held',
);

/** Takes those of the chosen runs that still wait. Taking a run that waits in a group closes the group. */
export const TAKE_RUNS =
  "WITH due AS MATERIALIZED (SELECT ref FROM work WHERE ref = ANY($1::bigint[]) AND state = 'pending' AND blocked_by IS NULL AND due_at <= $2 " +
  "ORDER BY ref FOR UPDATE SKIP LOCKED) UPDATE work w SET state = 'running', node = $3, holder = $4, started_at = $2, " +
  'group_key = NULL FROM due WHERE w.ref = due.ref RETURNING w.ref, w.lane, w.failed';

export const TAKE_ATTEMPTS =
  'WITH due AS MATERIALIZED (SELECT d.ref, d.n FROM delivery d JOIN json_to_recordset($1::json) AS x(ref bigint, n integer) ' +
  'ON d.ref = x.ref AND d.n = x.n WHERE d.holder IS NULL AND d.due_at <= $2 ORDER BY d.ref, d.n FOR UPDATE OF d SKIP LOCKED) ' +
  'UPDATE delivery d SET node = $3, holder = $4 FROM due WHERE d.ref = due.ref AND d.n = due.n RETURNING d.ref, d.n, d.waiting';

/** Locks the rows that guard the limits of these lanes, before their runs are counted; skips lanes that another gateway has locked. */
export const LOCK_LIMITS =
  'SELECT lane, max_concurrent FROM lane WHERE lane = ANY($1) ORDER BY lane FOR UPDATE SKIP LOCKED';
/** The same for agents: the names of those that no other gateway has locked. */
export const LOCK_AGENTS =
  "SELECT name FROM unnest($1::text[]) name WHERE pg_try_advisory_xact_lock(hashtextextended('hookwright agent ' || name, 0))";

/** The lanes of the routes that are paused at $1. */
export const PAUSED =
  "SELECT key::json #>> '{}' AS lane FROM guard_state WHERE kind = 'pause' AND coalesce(expires_at > $1, true)";

/**
 * The paused lanes, when the next of them goes on by itself, and the number of dispatches that wait for a run, without those in
 * groups and of paused routes.
 */
export const WAITING =
  `WITH paused AS MATERIALIZED (${PAUSED}) SELECT ` +
  '(SELECT coalesce(sum(pending), 0)::bigint FROM tally WHERE lane NOT IN (SELECT lane FROM paused)) - ' +
  "(SELECT count(*) FROM work WHERE group_key IS NOT NULL AND state = 'pending') AS waiting, " +
  "(SELECT coalesce(json_agg(lane), '[]') FROM paused) AS paused, " +
  "(SELECT min(expires_at) FROM guard_state WHERE kind = 'pause' AND expires_at > $1) AS goes_on_at";
