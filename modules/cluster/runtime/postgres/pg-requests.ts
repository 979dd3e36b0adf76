/**
 * Kept requests in the database. Commits do not wait for the disk: a crash of the server may lose the latest requests.
 */
import type { NewRequestRow, RequestFilter, RequestRow, RequestRows } from '../../../../runtime/store/request-rows.ts';
import type { PgValue } from './driver.ts';
import type { SnapshotReader } from './snapshot.ts';

/** Most bytes of bodies stored, and most rows removed, by one statement. */
const SLICE_BYTES = 2 * 1024 * 1024;
const SLICE_ROWS = 500;

const ADD =
  'INSERT INTO request (n, profile, route, outcome, reason, head, body, bytes) ' +
  "SELECT n, profile, route, outcome, reason, head, decode(body, 'base64'), bytes FROM json_to_recordset($1::json) AS " +
  'x(n bigint, profile text, route text, outcome text, reason text, head text, body text, bytes integer) ' +
  'ON CONFLICT DO NOTHING RETURNING 1';
const REMOVE_OLD =
  'DELETE FROM request WHERE n IN (SELECT n FROM request WHERE n < $1 ORDER BY n LIMIT $2) RETURNING 1';
/** Keeps the newest rows that together have at most $1 bytes. */
const REMOVE_EXCESS =
  'DELETE FROM request WHERE n IN (SELECT n FROM (SELECT n, sum(bytes) OVER (ORDER BY n DESC) AS newest FROM request) s ' +
  'WHERE newest > $1 ORDER BY n LIMIT $2) RETURNING 1';
/** A text without the signature that gateways of schema version 2 put before it. */
export const unsigned = (column: string): string => `regexp_replace(${column}, '^signed:[^\n]*\n', '')`;
const HEAD = unsigned('head');
const BETWEEN = `SELECT n, ${HEAD} AS head, body FROM request WHERE n BETWEEN $1 AND $2 ORDER BY n LIMIT 2`;
/** Bytes as ASCII text, because a body may be binary. */
const asciiOf = (bytes: string): string => `lower(encode(${bytes}, 'escape'))`;

/** @param requests a separate connection, so that a long search delays nothing else */
export const pgRequests = (requests: SnapshotReader): RequestRows => ({
  /** By statements of limited size. */
  async add(rows) {
    let stored = 0;
    for (const slice of slicesOf(rows)) {
      stored += (await requests.ask([ADD, JSON.stringify(slice.map(printRow))]))[0]?.length ?? 0;
    }
    return stored;
  },
  async trim(n, maxBytes) {
    for (const [sql, limit] of [[REMOVE_OLD, n] as const, [REMOVE_EXCESS, maxBytes] as const]) {
      for (let removed = SLICE_ROWS; removed === SLICE_ROWS; ) {
        removed = (await requests.ask([sql, limit, SLICE_ROWS]))[0]?.length ?? 0;
      }
    }
  },
  async list(filter) {
    const [rows = []] = await requests.ask<[RequestRow[]]>(listStatement(filter));
    return rows;
  },
  async between(from, to) {
    const [rows = []] = await requests.ask<[RequestRow[]]>([BETWEEN, from, to]);
    return rows;
  },
});

function listStatement(filter: RequestFilter): readonly [string, ...PgValue[]] {
  const terms: string[] = [];
  const values: PgValue[] = [];
  const add = (value: PgValue | undefined, term: (place: string) => string): void => {
    if (value !== undefined) terms.push(term(`$${values.push(value)}`));
  };
  for (const column of ['profile', 'route', 'outcome', 'reason'] as const) {
    // No column holds a NUL, and PostgreSQL does not accept one.
    add(filter[column]?.replaceAll('\0', '\ufffd'), (place) => `${column} = ${place}`);
  }
  add(filter.above, (place) => `n > ${place}`);
  add(filter.below, (place) => `n < ${place}`);
  if (filter.grep !== undefined) {
    const inHead = `$${values.push(JSON.stringify(filter.grep).slice(1, -1))}`;
    const inBody = `$${values.push(Buffer.from(filter.grep))}`;
    terms.push(
      `(position(lower(${inHead}::text) IN lower(${HEAD})) > 0 OR position(${asciiOf(`${inBody}::bytea`)} IN ${asciiOf('body')}) > 0)`,
    );
  }
  const where = terms.length === 0 ? '' : ` WHERE ${terms.join(' AND ')}`;
  const order = filter.isAscending ? 'ASC' : 'DESC';
  const [limit, skip] = [values.push(filter.limit), values.push(filter.skip)];
  return [
    `SELECT n, ${HEAD} AS head FROM request${where} ORDER BY n ${order} LIMIT $${limit} OFFSET $${skip}`,
    ...values,
  ];
}

function printRow({ body, ...row }: NewRequestRow): object {
  const bytes = Buffer.byteLength(row.head) + (body?.length ?? 0);
  return { ...row, body: body === null ? null : Buffer.from(body).toString('base64'), bytes };
}

function* slicesOf(rows: readonly NewRequestRow[]): Generator<readonly NewRequestRow[]> {
  let slice: NewRequestRow[] = [];
  let bytes = 0;
  for (const row of rows) {
    slice.push(row);
    bytes += row.head.length + (row.body?.length ?? 0);
    if (bytes < SLICE_BYTES) continue;
    yield slice;
    slice = [];
    bytes = 0;
  }
  if (slice.length > 0) yield slice;
}
