/** Reads the gateways that share the database from their rows in `node`. */
import type { StoredNode } from '../../../../runtime/store/queries.ts';
import type { AskSnapshot } from './snapshot.ts';

const ms = (time: string): string => `(extract(epoch FROM ${time}) * 1000)::bigint`;
const ENDS_AT = 'least(n.until, coalesce(n.ended_at, n.until))';
/** Hides the earlier starts of a gateway at the same address. */
const IS_LATEST = 'NOT EXISTS (SELECT 1 FROM node later WHERE later.url = n.url AND later.id > n.id)';
const NODES =
  `SELECT n.id AS node, n.url, n.version, n.table_hash AS "table", n.problem, ${ms('n.started_at')} AS started_at, ` +
  `${ms(ENDS_AT)} AS lease_expires_at, ${ms('t.now')} AS read_at, ` +
  "CASE WHEN n.until > t.now AND n.ended_at IS NULL THEN 'serving' WHEN n.has_stopped THEN 'stopped' ELSE 'lost' END AS state " +
  // A gateway that stops ends its own lease, so both instants are from one statement.
  "FROM (SELECT *, abs(extract(epoch FROM ended_at - until)) < 0.001 AS has_stopped FROM node WHERE until > '-infinity') n, " +
  '(SELECT clock_timestamp() AS now) t ' +
  `WHERE (n.until > t.now AND n.ended_at IS NULL) OR ${IS_LATEST} ORDER BY n.id`;

export async function readNodes(ask: AskSnapshot): Promise<readonly StoredNode[]> {
  const [rows = []] = await ask<[StoredNode[]]>([NODES]);
  return rows;
}
