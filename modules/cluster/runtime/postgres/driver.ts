/**
 * The interface to the PostgreSQL driver, and the only file that imports the package. It is an optional peer
 * dependency, loaded when a store on PostgreSQL is opened.
 */
import { messageOf } from '../../../../base/errors.ts';
import { npmInstall } from '../../../../runtime/platform/process/threads.ts';
import { StoreRefused } from '../../../../runtime/store/contract.ts';

export type PgValue = string | number | boolean | null | Uint8Array | readonly (string | number | boolean | null)[];

/** One connection. Queries are sent in the order of the calls, pipelined if the driver can do that. */
export interface PgConnection {
  /** Rejects with an Error that has a SQLSTATE in `code`, or no code when the connection is lost. */
  query<R extends object>(sql: string, values?: readonly PgValue[]): Promise<readonly R[]>;
  /** The same for a change; resolves to the number of rows. */
  change(sql: string, values?: readonly PgValue[]): Promise<number>;
  /** Runs several statements without values, separated by `;`; resolves to the rows of the last one. */
  script<R extends object>(sql: string): Promise<readonly R[]>;
  /** Why the connection is lost; null while it can be used. */
  readonly lost: Error | null;
  close(): Promise<void>;
}

export interface PgConnectOptions {
  readonly url: string;
  /** Application name, shown in pg_stat_activity. */
  readonly name: string;
  /** True: prepare statements. Use false behind a pooler that may use another connection for each transaction. */
  readonly prepare: boolean;
  /** Called with the payload of each notification. */
  readonly notified?: (payload: string) => void;
  /** Called when the connection has ended, on either side. */
  readonly ended?: () => void;
}

export type PgConnect = (options: PgConnectOptions) => Promise<PgConnection>;

type Driver = typeof import('pg');
type Client = import('pg').Client;
type ClientConfig = import('pg').ClientConfig;

/** Timeouts for connecting and for a query, in ms. */
const CONNECT_MS = 5000;
const QUERY_MS = 15_000;
/** Object identifier of `int8`, which is read as a number: refs, counts and Unix ms are below 2^53. */
const INT8 = 20;

/**
 * Rejects with StoreRefused when the package is not installed. The function rejects when TLS settings of the URL cannot
 * be used.
 */
export async function loadDriver(): Promise<PgConnect> {
  const driver = await importDriver();
  return async (options) => {
    const url = libpqUrl(options.url);
    try {
      return await connect(driver, { ...options, url: url.href });
    } catch (error) {
      if (url.searchParams.get('sslmode') !== 'prefer' || messageOf(error) !== NO_TLS) throw error;
      url.searchParams.set('sslmode', 'disable');
      return connect(driver, { ...options, url: url.href });
    }
  };
}

/** The driver's message, because it has no code for this error. */
const NO_TLS = 'The server does not support SSL connections';

const SSL_MODES = ['disable', 'prefer', 'require', 'verify-ca', 'verify-full'];
/** TLS settings of libpq that the driver ignores. */
const UNSUPPORTED = ['sslcrl', 'sslcrldir', 'sslcertmode', 'requiressl', 'sslpassword', 'ssl_min_protocol_version'];

/**
 * The URL with an explicit `sslmode`, and the setting that makes the driver read it as libpq does. By default, the
 * driver reads `require` as `verify-full`, and silently accepts an unknown mode or a missing CA. @throws StoreRefused
 */
function libpqUrl(text: string): URL {
  const url = new URL(text);
  const { searchParams } = url;
  const ignored = UNSUPPORTED.find((name) => searchParams.has(name));
  if (ignored !== undefined) throw refused(`${ignored} is not supported`);
  const given = searchParams.get('sslmode') || (searchParams.get('ssl') === 'true' ? 'require' : 'prefer');
  if (!SSL_MODES.includes(given)) throw refused(`sslmode=${given} is invalid: use one of ${SSL_MODES.join(', ')}`);
  const host = searchParams.get('host') ?? decodeURIComponent(url.hostname);
  // As in libpq, a Unix socket is never encrypted.
  const mode = host.startsWith('/') ? 'disable' : given;
  const root = searchParams.get('sslrootcert');
  if (root === 'system') {
    if (mode !== 'verify-full')
      throw refused('sslrootcert=system requires sslmode=verify-full: anyone can get a certificate from a public CA');
    // Without a file, these are the roots of Node.js.
    searchParams.delete('sslrootcert');
  }
  if (mode === 'verify-ca' && !root) throw refused('sslmode=verify-ca requires sslrootcert=<file of the CA>');
  searchParams.delete('ssl');
  searchParams.set('sslmode', mode);
  searchParams.set('uselibpqcompat', 'true');
  return url;
}

const refused = (what: string): StoreRefused => new StoreRefused(`the URL of gateway.store.postgres: ${what}`);

async function connect(
  driver: Driver,
  { url, name, prepare, notified, ended }: PgConnectOptions,
): Promise<PgConnection> {
  const types = {
    getTypeParser: (oid: number, format?: 'text' | 'binary') =>
      oid === INT8 ? Number : (driver.types.getTypeParser(oid, format as 'text') as (text: string) => unknown),
  };
  const client = createClient(driver, {
    connectionString: url,
    application_name: name,
    types: types as never,
    connectionTimeoutMillis: CONNECT_MS,
    query_timeout: QUERY_MS,
    pipeline: true,
    keepAlive: true,
    keepAliveInitialDelayMillis: CONNECT_MS,
  });
  let lost: Error | null = null;
  let isConnected = false;
  const lose = (error: Error): void => {
    if (lost !== null) return;
    lost = error;
    // The end of a failed attempt is not reported: another attempt may have succeeded before it.
    if (isConnected) ended?.();
  };
  // Without a listener, an error event would end the process. After an error, the driver accepts no more queries, but
  // closes the connection only if the network has failed.
  client.on('error', (error) => {
    lose(error);
    void client.end().catch(() => {});
  });
  client.on('end', () => lose(new Error('the connection was closed')));
  client.on('notification', ({ payload }) => notified?.(payload ?? ''));
  await client.connect();
  isConnected = true;
  const run = (sql: string, values: readonly PgValue[]) =>
    client.query({ ...(prepare ? { name: nameOf(sql) } : {}), text: sql, values: [...values] });
  return {
    get lost() {
      return lost;
    },
    query: async <R extends object>(sql: string, values: readonly PgValue[] = []) =>
      (await run(sql, values)).rows as R[],
    change: async (sql, values = []) => (await run(sql, values)).rowCount ?? 0,
    async script<R extends object>(sql: string) {
      const result: unknown = await client.query(sql);
      const all = (Array.isArray(result) ? result : [result]) as { readonly rows: R[] }[];
      return all.at(-1)?.rows ?? [];
    },
    close: () => client.end(),
  };
}

/** The driver reads the URL, and the certificate files in it. @throws StoreRefused if it cannot */
function createClient(driver: Driver, config: ClientConfig): Client {
  try {
    return new driver.Client(config);
  } catch (error) {
    throw refused(messageOf(error));
  }
}

async function importDriver(): Promise<Driver> {
  try {
    const loaded = await import('pg');
    return loaded.default as Driver;
  } catch (error) {
    if (sqlState(error) !== 'ERR_MODULE_NOT_FOUND') throw error;
    throw new StoreRefused(`gateway.store: postgres requires the package pg: run \`${npmInstall('pg')}\``);
  }
}

const names = new Map<string, string>();

/**
 * The name under which a statement is prepared, once for each connection. The map is bounded: values are parameters, so
 * only the statements of lists vary, one for each combination of filters.
 */
function nameOf(sql: string): string {
  const known = names.get(sql);
  if (known !== undefined) return known;
  const name = `hookwright_${names.size + 1}`;
  names.set(sql, name);
  return name;
}

/** The SQLSTATE (`23505`) or the system's code (`ECONNREFUSED`); '' for any other error. */
export function sqlState(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}

/** Codes of errors that recur, because they are in a statement or its values: data, integrity, syntax, program limits. */
const STATEMENT_ERROR = /^(?:2[1-3]|42|54)[0-9A-Z]{3}$/;

/** True if a retry would also fail. */
export const isStatementError = (error: unknown): boolean =>
  error instanceof StoreRefused || STATEMENT_ERROR.test(sqlState(error));

/** True if another transaction conflicted: a deadlock, a serialization failure, or a concurrently inserted row. */
export const isConflict = (error: unknown): boolean => /^(?:40P01|40001|23505)$/.test(sqlState(error));

/** True if the connection may have ended: the error is not about a statement. */
export const isLost = (error: unknown): boolean => !/^(?!57P0|08|XX)[0-9A-Z]{5}$/.test(sqlState(error));

/** Advice by code, or by the message of an error without one. */
const ADVICE: Readonly<Record<string, string>> = {
  '28P01': 'check the user and the password in the URL of gateway.store.postgres',
  '28000': "check the user in the URL of gateway.store.postgres, and the server's pg_hba.conf",
  '3D000': 'create it, or correct the URL of gateway.store.postgres',
  '53300': 'raise max_connections, or put PgBouncer in front (gateway.store.listen: false)',
  [NO_TLS]: 'set `ssl = on` in its postgresql.conf, or change sslmode in the URL: hookwright docs scale',
  '42P05': 'behind a pooler in transaction mode, set `listen: false` in gateway.store',
  '26000': 'behind a pooler in transaction mode, set `listen: false` in gateway.store',
  UNTRUSTED: 'set sslrootcert in the URL of the database to the file of the CA that signed its certificate',
  ERR_TLS_CERT_ALTNAME_INVALID: 'with sslmode=verify-full, the certificate must name the host of the URL',
  '42501': 'grant the privileges that a gateway needs: hookwright docs scale',
};

/** Describes an error for users, with advice. No message of the driver or PostgreSQL contains the password. */
export function describePgError(error: unknown): string {
  const code = sqlState(error);
  const advice = ADVICE[UNTRUSTED.test(code) ? 'UNTRUSTED' : code || messageOf(error)] ?? null;
  return [messageOf(error) || code || 'no answer', ...(advice === null ? [] : [advice])].join('; ');
}

/** Codes of Node.js for a certificate that no trusted root has signed. */
const UNTRUSTED =
  /^(?:SELF_SIGNED_CERT_IN_CHAIN|DEPTH_ZERO_SELF_SIGNED_CERT|UNABLE_TO_(?:VERIFY|GET)_[A-Z_]+|CERT_UNTRUSTED|CERT_SIGNATURE_FAILURE)$/;
