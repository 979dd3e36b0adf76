/** `hookwright doctor`: checks the PostgreSQL database that gateways share. */

import type { Check } from '../../../cli/base/check.ts';
import { gatewayCheck } from '../../../cli/base/check.ts';
import type { CliContext } from '../../../cli/base/context.ts';
import { CliError } from '../../../cli/base/errors.ts';
import type { DatabaseTools, PostgresPlan } from '../../../cli/base/module.ts';
import { formatDuration } from '../../../cli/output/table.ts';
import type { StoredNode } from '../../../runtime/store/queries.ts';
import type { DatabaseFacts, SchemaFacts } from '../runtime/postgres/inspect.ts';
import { RefusedRows } from '../runtime/refused-rows.ts';
import { InvalidSubscriptions, openSubscriptions, SUBSCRIPTIONS } from '../runtime/shared-subscriptions.ts';
import {
  HASH_CHARS,
  listNodes,
  openClientDatabase,
  refreshSubscriptions,
  resolveDatabaseUrl,
  showNodes,
  tablesInService,
  useSubscriptions,
  withDatabase,
} from './database.ts';

const SUBJECT = 'database';
const OLDEST_VERSION = 140_000;
/** Maximum number of connections of a gateway. */
const CONNECTIONS = 4;
/** A run that has been due for longer is overdue, in ms. */
const LAG_MS = 60_000;
const CLOCK_MS = 2000;
/** An older open transaction holds back vacuum, in ms. */
const TRANSACTION_MS = 15 * 60_000;
const MIB = 2 ** 20;

/** Never shows the URL, which contains the password. */
export async function checkDatabase(context: CliContext, plan: PostgresPlan): Promise<readonly Check[]> {
  try {
    const url = resolveDatabaseUrl(context, plan);
    const { inspectSchema, inspectServer } = await import('../runtime/postgres/inspect.ts');
    const { server, schema } = await withDatabase({ url }, async (db) => ({
      server: await inspectServer(db, context.clock),
      schema: await inspectSchema(db, plan.schema),
    }));
    const nodes = schema.version === null ? [] : await listNodes(context);
    const refused = schema.version === null ? [] : await findRefused(context, plan, url);
    return [
      checkVersion(server),
      checkDurability(server),
      checkConnections(server, nodes),
      checkServerClock(server),
      checkStandby(server),
      checkTransactions(server),
      checkSlots(server),
      checkRights(server, schema, plan),
      ...(schema.version === null ? [] : [checkRows(refused), checkLag(schema), checkBloat(schema), checkNodes(nodes)]),
    ];
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    const fix = error.hints[0] ?? 'check gateway.store and the database: hookwright docs scale';
    return [failed('usable', error.message, fix)];
  }
}

const ok = (check: string, detail: string): Check => gatewayCheck({ subject: SUBJECT, check, status: 'ok', detail });
const warning = (check: string, detail: string, fix: string): Check =>
  gatewayCheck({ subject: SUBJECT, check, status: 'warning', detail, fix });
const failed = (check: string, detail: string, fix: string): Check =>
  gatewayCheck({ subject: SUBJECT, check, status: 'failed', detail, fix });

function checkVersion({ version, version_text }: DatabaseFacts): Check {
  const detail = `PostgreSQL ${version_text}`;
  return version >= OLDEST_VERSION
    ? ok('version', detail)
    : failed('version', detail, 'upgrade PostgreSQL to 14 or later');
}

/** `synchronous_commit` is not checked, because each transaction of a gateway sets it. */
function checkDurability({ fsync, full_page_writes }: DatabaseFacts): Check {
  const off = [...(fsync ? [] : ['fsync']), ...(full_page_writes ? [] : ['full_page_writes'])].join(' and ');
  if (off === '') return ok('durable', 'acknowledged events survive a crash of the server');
  return failed(
    'durable',
    `${off} off: a crash of the database server loses acknowledged events`,
    'set it to on in postgresql.conf',
  );
}

function checkConnections(
  { connections_allowed: allowed, connections_used: used }: DatabaseFacts,
  nodes: readonly StoredNode[],
): Check {
  const gateways = Math.max(1, nodes.filter(({ state }) => state === 'serving').length);
  const ours = CONNECTIONS * gateways;
  const detail = `${used} of ${allowed} in use; ${gateways === 1 ? 'one gateway uses' : `${gateways} gateways use`} up to ${ours}`;
  // Another gateway must be able to start.
  if (Math.max(used, ours) + CONNECTIONS <= allowed) return ok('connections', detail);
  return warning(
    'connections',
    detail,
    'raise max_connections, or put PgBouncer in front (gateway.store.listen: false)',
  );
}

function checkServerClock({ clock_ahead_ms: ahead }: DatabaseFacts): Check {
  if (Math.abs(ahead) < CLOCK_MS) return ok('clock', "this machine's clock agrees with the database's");
  const by = formatDuration(Math.abs(ahead));
  const detail = `this machine's clock is ${by} ${ahead > 0 ? 'ahead of' : 'behind'} the database's, which gateways use`;
  return warning('clock', detail, 'synchronise both machines (NTP)');
}

function checkStandby({ standby_missing }: DatabaseFacts): Check {
  if (!standby_missing) return ok('standby', 'no commit waits for a disconnected standby');
  const detail = 'synchronous_standby_names names a standby, but none is connected: every commit waits';
  return failed('standby', detail, 'connect the standby, or set synchronous_standby_names to the empty string');
}

function checkTransactions({ oldest_transaction_ms: age }: DatabaseFacts): Check {
  if (age < TRANSACTION_MS) return ok('transactions', 'no transaction holds back vacuum');
  const detail = `a transaction has been open for ${formatDuration(age)}: vacuum cannot remove newer dead rows`;
  return warning('transactions', detail, 'find it in pg_stat_activity or pg_prepared_xacts (xact_start), and end it');
}

function checkSlots({ unread_slots: slots }: DatabaseFacts): Check {
  if (slots.length === 0) return ok('slots', 'no replication slot is unused');
  const detail = slots.map(({ name, bytes }) => `${name}: ${Math.ceil(bytes / MIB)} MiB of WAL`).join('; ');
  return warning(
    'slots',
    `unused replication slots fill the disk: ${detail}`,
    'connect their consumers, or drop each: SELECT pg_drop_replication_slot(name)',
  );
}

function checkRights({ role }: DatabaseFacts, { version, forbidden }: SchemaFacts, { schema }: PostgresPlan): Check {
  if (forbidden.length > 0) {
    const detail = `role ${role} lacks privileges on ${forbidden.join(', ')} in schema ${schema}`;
    return failed('rights', detail, 'grant them: hookwright docs scale, "Roles"');
  }
  if (version === null)
    return ok(
      'tables',
      `schema ${schema} is empty; the first gateway or \`hookwright store migrate\` creates the tables`,
    );
  return ok('tables', `schema ${schema}, version ${version}; role ${role} has the privileges it needs`);
}

/** The jobs and subscriptions that gateways ignore because they are invalid. */
async function findRefused({ clock }: CliContext, { schema }: PostgresPlan, url: string): Promise<readonly string[]> {
  const { openClientStore } = await import('../runtime/postgres/client-store.ts');
  const refused = new RefusedRows();
  const store = await openClientStore({ url, schema, clock, create: false, refused });
  try {
    await store?.read({ kind: 'jobs' });
    const { version = 0, text = '' } = (await store?.state?.documents.read(SUBSCRIPTIONS)) ?? {};
    if (version > 0) refused.note('subscriptions', openSubscriptions(text, null).problem);
  } catch (error) {
    if (!(error instanceof InvalidSubscriptions)) throw error;
    refused.note('subscriptions', error.message.replaceAll('\n', '; '));
  } finally {
    await store?.close();
  }
  return refused.all;
}

function checkRows(refused: readonly string[]): Check {
  if (refused.length === 0) return ok('rows', 'jobs and subscriptions are valid');
  return failed('rows', refused.join('; '), 'find out who wrote them: hookwright docs scale, "Who may write there"');
}

function checkLag({ lag_ms }: SchemaFacts): Check {
  if (lag_ms < LAG_MS) return ok('lag', 'no due run has waited for long');
  const fix =
    'check that a gateway is running (gateway status --all); if so, raise max_concurrent_runs, or add a gateway';
  return warning('lag', `the oldest run that is due has waited for ${formatDuration(lag_ms)}`, fix);
}

function checkBloat({ bloated }: SchemaFacts): Check {
  if (bloated.length === 0) return ok('bloat', 'vacuum keeps up');
  const detail = bloated.map(({ name, dead, live }) => `${name}: ${dead} dead rows, ${live} live`).join('; ');
  return warning('bloat', detail, 'end long transactions and unused replication slots, then VACUUM');
}

function checkNodes(nodes: readonly StoredNode[]): Check {
  const serving = nodes.filter(({ state }) => state === 'serving');
  const tables = tablesInService(nodes);
  const detail = `${serving.length} serving${tables.length === 0 ? '' : `, table ${tables.map((hash) => hash.slice(0, HASH_CHARS)).join(', ')}`}`;
  return tables.length < 2
    ? ok('gateways', detail)
    : warning('gateways', detail, 'compare them: hookwright gateway status --all');
}

export const databaseTools: DatabaseTools<CliContext> = {
  open: openClientDatabase,
  refreshSubscriptions,
  useSubscriptions,
  showNodes,
  check: checkDatabase,
};
