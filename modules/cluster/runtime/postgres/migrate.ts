/** Migrates a database to this version's tables, and rejects versions that it cannot use. */
import { StoreRefused } from '../../../../runtime/store/contract.ts';
import type { PgConnection } from './driver.ts';
import { sqlState } from './driver.ts';
import { SCHEMA_VERSION, STEPS } from './schema.ts';

/** Versions before and after; 0 when there were no tables. */
export interface Migration {
  readonly from: number;
  readonly to: number;
}

const INSUFFICIENT_PRIVILEGE = '42501';

/** Quotes the name. Only lower-case letters, digits and `_` are allowed; other names would need quotes in users' statements. */
export function quoteSchema(schema: string): string {
  if (/^[a-z_][a-z0-9_]{0,62}$/.test(schema)) return `"${schema}"`;
  throw new StoreRefused(`gateway.store.schema: "${schema}" is not a valid name: use a-z, 0-9 and _`);
}

/**
 * Creates or migrates the tables in one transaction, one gateway at a time. Rejects with StoreRefused when a newer version
 * wrote them, or when this role may not change them.
 */
export async function migrate(db: PgConnection, schema: string): Promise<Migration> {
  const quoted = quoteSchema(schema);
  let from = 0;
  try {
    from = await readVersion(db, schema, quoted);
    if (from < SCHEMA_VERSION) from = await migrateAlone(db, schema, quoted);
  } catch (error) {
    if (sqlState(error) !== INSUFFICIENT_PRIVILEGE) throw error;
    throw await missingRights(db, schema, from);
  }
  if (from > SCHEMA_VERSION) throw newerSchema(schema, from);
  return { from, to: SCHEMA_VERSION };
}

/**
 * The version of the tables, for a command that does not change them; null when there are none. Rejects with StoreRefused
 * when this version of hookwright cannot use them.
 */
export async function versionFor(db: PgConnection, schema: string): Promise<number | null> {
  const version = await readVersion(db, schema, quoteSchema(schema));
  if (version === 0) return null;
  checkOverlap({ schema, version });
  if (version >= SCHEMA_VERSION) return version;
  throw new StoreRefused(
    `the tables in schema "${schema}" have version ${version}, but this hookwright needs version ${SCHEMA_VERSION}\n` +
      'migrate them: hookwright store migrate',
  );
}

/** The version; 0 when there are no tables. */
async function readVersion(db: PgConnection, schema: string, quoted: string): Promise<number> {
  // Not to_regclass, because within a transaction its cache may miss tables that another transaction has just
  // committed.
  const found = await db.query("SELECT 1 FROM pg_tables WHERE schemaname = $1 AND tablename = 'schema_version'", [
    schema,
  ]);
  if (found.length === 0) return 0;
  const [row] = await db.query<{ version: number }>(`SELECT version FROM ${quoted}.schema_version`);
  return row?.version ?? 0;
}

/** A gateway that runs while others are upgraded can use the tables of the next version. @throws StoreRefused for later ones */
export function checkOverlap({ schema, version }: { readonly schema: string; readonly version: number }): void {
  if (version > SCHEMA_VERSION + 1) throw newerSchema(schema, version);
}

/** Migrates under a lock; resolves to the previous version. */
async function migrateAlone(db: PgConnection, schema: string, quoted: string): Promise<number> {
  await db.script('BEGIN');
  try {
    await db.script(`SET LOCAL lock_timeout = '10s'; SELECT pg_advisory_xact_lock(hashtext('hookwright ${schema}'))`);
    const from = await readVersion(db, schema, quoted);
    if (from === 0) await createSchema(db, schema, quoted);
    for (const step of STEPS.slice(from)) await db.script(`SET LOCAL search_path = ${quoted}; ${step}`);
    if (from < SCHEMA_VERSION) await db.script(`UPDATE ${quoted}.schema_version SET version = ${SCHEMA_VERSION}`);
    await db.script('COMMIT');
    return from;
  } catch (error) {
    await db.script('ROLLBACK').catch(() => {});
    throw error;
  }
}

async function createSchema(db: PgConnection, schema: string, quoted: string): Promise<void> {
  // CREATE SCHEMA IF NOT EXISTS needs the privilege to create schemas even if this one exists.
  const [existing] = await db.query('SELECT 1 FROM pg_namespace WHERE nspname = $1', [schema]);
  if (existing === undefined) await db.script(`CREATE SCHEMA ${quoted}`);
  await db.script(
    `CREATE TABLE ${quoted}.schema_version (version integer NOT NULL); INSERT INTO ${quoted}.schema_version VALUES (0)`,
  );
}

async function missingRights(db: PgConnection, schema: string, from: number): Promise<StoreRefused> {
  const [user] = await db.query<{ name: string }>('SELECT current_user::text AS name');
  const need =
    from === 0
      ? `the database has no tables in schema "${schema}" yet, or none that this role may read`
      : `the tables in schema "${schema}" have version ${from}, but this hookwright needs version ${SCHEMA_VERSION}`;
  return new StoreRefused(
    `${need}; the role "${user?.name}" may not change the schema: run \`hookwright store migrate\` as the role that owns them, ` +
      'and check the GRANTs (hookwright docs scale)',
  );
}

const newerSchema = (schema: string, version: number): StoreRefused =>
  new StoreRefused(
    `the database was written by a newer hookwright (schema "${schema}" has version ${version}, this one supports ` +
      `${SCHEMA_VERSION}): upgrade this gateway`,
  );
