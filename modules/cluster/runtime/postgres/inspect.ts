/** The queries of `hookwright doctor` to a database. */
import type { Clock } from '../../../../runtime/platform/clock.ts';
import type { PgConnection } from './driver.ts';
import { readServerTime } from './lease.ts';
import { quoteSchema, versionFor } from './migrate.ts';

export interface DatabaseFacts {
  /** `server_version_num`, such as 150018. */
  readonly version: number;
  readonly version_text: string;
  readonly role: string;
  readonly fsync: boolean;
  readonly full_page_writes: boolean;
  /** The limit for roles other than superusers. */
  readonly connections_allowed: number;
  readonly connections_used: number;
  /** `synchronous_standby_names` names a standby, but none is connected: commits wait for it. */
  readonly standby_missing: boolean;
  /** Age of the oldest transaction that holds back vacuum, in ms; 0 when there is none. Others' may not be visible. */
  readonly oldest_transaction_ms: number;
  /** Unused replication slots, each with the WAL that it retains, in bytes. */
  readonly unread_slots: readonly { readonly name: string; readonly bytes: number }[];
  /** How far this machine's clock is ahead of the database's, in ms. */
  readonly clock_ahead_ms: number;
}

export interface SchemaFacts {
  /** Null when there are no tables yet. */
  readonly version: number | null;
  /** Tables and sequences on which the role lacks the privileges of a gateway. */
  readonly forbidden: readonly string[];
  /** How long the oldest due run has waited, in ms. */
  readonly lag_ms: number;
  /** Tables with more dead rows than live ones. */
  readonly bloated: readonly { readonly name: string; readonly dead: number; readonly live: number }[];
}

const SERVER =
  "SELECT current_setting('server_version_num')::int AS version, current_setting('server_version') AS version_text, " +
  "current_user::text AS role, current_setting('fsync')::bool AS fsync, current_setting('full_page_writes')::bool AS full_page_writes, " +
  "current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int AS connections_allowed, " +
  "(SELECT count(*)::int FROM pg_stat_activity WHERE backend_type = 'client backend') AS connections_used, " +
  "current_setting('synchronous_standby_names') <> '' AND NOT EXISTS (SELECT FROM pg_stat_replication) AS standby_missing, " +
  '(SELECT coalesce(extract(epoch FROM clock_timestamp() - min(started)) * 1000, 0)::bigint FROM (SELECT xact_start AS started ' +
  'FROM pg_stat_activity WHERE backend_xmin IS NOT NULL UNION ALL SELECT prepared FROM pg_prepared_xacts) open) AS oldest_transaction_ms';
const UNREAD_SLOTS =
  'SELECT slot_name::text AS name, pg_wal_lsn_diff(pg_current_wal_lsn(), restart_lsn)::bigint AS bytes ' +
  'FROM pg_replication_slots WHERE NOT active AND restart_lsn IS NOT NULL ORDER BY 1';

export async function inspectServer(db: PgConnection, clock: Clock): Promise<DatabaseFacts> {
  const [row] = await db.query<Omit<DatabaseFacts, 'clock_ahead_ms' | 'unread_slots'>>(SERVER);
  if (row === undefined) throw new Error('the database returned no settings');
  const unread_slots = await db.query<DatabaseFacts['unread_slots'][number]>(UNREAD_SLOTS);
  let clock_ahead_ms = 0;
  await readServerTime(db, clock, (now) => {
    clock_ahead_ms = Math.round(clock.now() - now);
  });
  return { ...row, unread_slots, clock_ahead_ms };
}

/** Finds tables and sequences without the privileges that a gateway needs; the version is only read. */
const FORBIDDEN =
  'SELECT c.relname::text AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1 AND (' +
  "c.relkind = 'r' AND NOT has_table_privilege(c.oid, 'SELECT') OR c.relkind = 'r' AND c.relname <> 'schema_version' AND NOT (" +
  "has_table_privilege(c.oid, 'INSERT') AND has_table_privilege(c.oid, 'UPDATE') AND has_table_privilege(c.oid, 'DELETE')) " +
  "OR c.relkind = 'S' AND NOT has_sequence_privilege(c.oid, 'USAGE')) ORDER BY 1";
const LEAST_DEAD = 10_000;
const BLOATED =
  'SELECT relname::text AS name, n_dead_tup AS dead, n_live_tup AS live FROM pg_stat_user_tables ' +
  'WHERE schemaname = $1 AND n_dead_tup > $2 AND n_dead_tup > n_live_tup ORDER BY n_dead_tup DESC';

/** Rejects with StoreRefused when this version cannot use the tables. */
export async function inspectSchema(db: PgConnection, schema: string): Promise<SchemaFacts> {
  const forbidden = (await db.query<{ name: string }>(FORBIDDEN, [schema])).map(({ name }) => name);
  if (forbidden.length > 0) return { version: null, forbidden, lag_ms: 0, bloated: [] };
  const version = await versionFor(db, schema);
  if (version === null) return { version, forbidden, lag_ms: 0, bloated: [] };
  const [lag] = await db.query<{ ms: number | null }>(
    `SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint - min(due_at) AS ms FROM ${quoteSchema(schema)}.work WHERE state = 'pending'`,
  );
  const bloated = await db.query<SchemaFacts['bloated'][number]>(BLOATED, [schema, LEAST_DEAD]);
  return { version, forbidden, lag_ms: Math.max(0, lag?.ms ?? 0), bloated };
}
