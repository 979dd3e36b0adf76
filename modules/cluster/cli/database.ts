/**
 * The PostgreSQL database that several gateways share, for commands: opens it, lists its gateways and subscriptions.
 */

import { existsSync } from 'node:fs';
import { messageOf } from '../../../base/errors.ts';
import { DEFAULT_PROFILE } from '../../../base/names.ts';
import { createPaint } from '../../../base/paint.ts';
import type { CliContext } from '../../../cli/base/context.ts';
import { CliError, refusalOf } from '../../../cli/base/errors.ts';
import type { DatabaseContext, OpeningDatabase, PostgresPlan, SharedText } from '../../../cli/base/module.ts';
import { tryCallGateway } from '../../../cli/gateway/ask-gateway.ts';
import { printLine, printNote, visible } from '../../../cli/output/print.ts';
import type { Column } from '../../../cli/output/table.ts';
import { formatDuration, printList } from '../../../cli/output/table.ts';
import {
  configuredStore,
  StoreOutOfReach,
  UnknownStore,
  useSharedState,
  useStore,
} from '../../../cli/store/use-store.ts';
import { parseSecretRef } from '../../../compiler/text/secret-ref.ts';
import { createSecrets } from '../../../runtime/platform/secrets.ts';
import type { Store } from '../../../runtime/store/contract.ts';
import { StoreRefused, StoreUnavailable } from '../../../runtime/store/contract.ts';
import type { StoredNode } from '../../../runtime/store/queries.ts';
import type { GatewayStatus } from '../../../schemas/built/operations/types.ts';
import { databaseUrl } from '../runtime/database-url.ts';
import { copyParts } from '../runtime/open-shared.ts';
import { openClientStore } from '../runtime/postgres/client-store.ts';
import type { PgConnection } from '../runtime/postgres/driver.ts';
import type { CopyParts } from '../runtime/shared-subscriptions.ts';
import {
  InvalidSubscriptions,
  openSubscriptions,
  pullSubscriptions,
  SUBSCRIPTIONS,
  sealSubscriptions,
} from '../runtime/shared-subscriptions.ts';

/** @throws UnknownStore when the reference cannot be resolved to a URL */
export function resolveDatabaseUrl(context: DatabaseContext, { url }: Pick<PostgresPlan, 'url'>): string {
  try {
    return databaseUrl(url, createSecrets(context));
  } catch (error) {
    if (error instanceof StoreRefused) throw new UnknownStore(error.message);
    throw error;
  }
}

/** Null: it has no tables, and none are to be created. @throws StoreOutOfReach, UnknownStore */
export async function openClientDatabase(
  context: DatabaseContext,
  plan: PostgresPlan,
  { create, parts }: OpeningDatabase,
): Promise<Store | null> {
  const url = resolveDatabaseUrl(context, plan);
  try {
    return await openClientStore({ url, schema: plan.schema, clock: context.clock, create, parts });
  } catch (error) {
    if (!(error instanceof StoreRefused || error instanceof StoreUnavailable)) throw error;
    const [first = '', ...hints] = error.message.split('\n');
    throw new StoreOutOfReach(first, ...(hints.length > 0 ? hints : ['hookwright doctor checks the database']));
  }
}

/** The PostgreSQL database that a command uses directly, without a gateway. */
export interface Database {
  /** Never printed. */
  readonly url: string;
  readonly schema: string;
}

interface DatabaseFlags {
  readonly config?: readonly string[] | undefined;
  /** A secret reference that replaces the configured one. */
  readonly database?: string | undefined;
  readonly schema?: string | undefined;
}

const DEFAULT_SCHEMA = 'hookwright';

/**
 * The database of the flags or the configuration. @throws CliError when they name none, or its reference cannot be
 * resolved
 */
export async function findDatabase(context: CliContext, flags: DatabaseFlags): Promise<Database> {
  const named = flags.database === undefined ? null : parseSecretRef(flags.database, DEFAULT_PROFILE);
  // Without a configuration flags are enough, such as on a machine that only migrates.
  const store = named !== null && flags.schema !== undefined ? null : await configuredStore(context, flags.config);
  const plan = store?.kind === 'postgres' ? store : null;
  const url = named ?? plan?.url ?? null;
  if (url === null) {
    throw new CliError(
      'gateway.store does not name a PostgreSQL database: the store is a file on this machine',
      'pass the database: --database env:DATABASE_URL',
    );
  }
  const schema = flags.schema ?? plan?.schema ?? DEFAULT_SCHEMA;
  return { url: resolveDatabaseUrl(context, { url }), schema };
}

/** Runs `use` over a separate connection. @throws CliError when the database is unavailable, or rejects it */
export async function withDatabase<T>(
  { url }: Pick<Database, 'url'>,
  use: (db: PgConnection) => Promise<T>,
): Promise<T> {
  const { loadDriver, describePgError } = await import('../runtime/postgres/driver.ts');
  let db: PgConnection | null = null;
  try {
    const connect = await loadDriver();
    // Nothing outlives a transaction, so this also works behind a pooler.
    db = await connect({ url, name: 'hookwright command', prepare: false });
    return await use(db);
  } catch (error) {
    if (error instanceof StoreRefused) throw refusalOf(error);
    if (error instanceof CliError) throw error;
    throw new CliError(`cannot use the database: ${describePgError(error)}`);
  } finally {
    await db?.close().catch(() => {});
  }
}

/** A gateway whose store is not shared is the only one. @throws CliError when the store cannot be queried */
export async function listNodes(context: CliContext): Promise<readonly StoredNode[]> {
  const nodes = await useStore(context, (store) => store.read({ kind: 'nodes' }));
  if (nodes !== null && nodes.length > 0) return nodes;
  const status = await tryCallGateway(context, 'status', {});
  return status === null ? [] : [onlyNode(status, context.clock.now())];
}

const onlyNode = ({ url, version, table, started_at, store }: GatewayStatus, now: number): StoredNode => ({
  node: 1,
  url,
  version,
  table: table.hash,
  started_at,
  lease_expires_at: now,
  state: 'serving',
  problem: store.problem?.message ?? table.error,
  read_at: now,
});

/** Hashes of the tables in service, each once. */
export const tablesInService = (nodes: readonly StoredNode[]): readonly string[] => [
  ...new Set(nodes.flatMap(({ state, table }) => (state === 'serving' && table !== null ? [table] : []))),
];

/** Length of a hash that is enough to distinguish tables. */
export const HASH_CHARS = 12;

/** Prints every gateway that shares the store; an array with `json`. Returns the exit code. */
export async function showNodes(context: CliContext, json: boolean): Promise<number> {
  const nodes = await listNodes(context);
  const empty = 'no gateway has run yet; start one: hookwright gateway start';
  printList(context, nodes, { json, toJson: ({ read_at: _, ...node }) => node, columns: COLUMNS, empty });
  if (!json) noteProblems(context, nodes);
  return nodes.some(({ state }) => state === 'serving') ? 0 : 1;
}

function noteProblems(context: CliContext, nodes: readonly StoredNode[]): void {
  const paint = createPaint(context.colour.stdout);
  const note = (text: string): void => printLine(context, `${paint('yellow', '!')} ${visible(text)}`);
  for (const { node, problem, state } of nodes) {
    if (problem !== null && state === 'serving') note(`node ${node}: ${problem}`);
  }
  const tables = tablesInService(nodes);
  if (tables.length < 2) return;
  note('the gateways serve different route tables:');
  for (const table of tables) {
    const served = nodes.filter((each) => each.state === 'serving' && each.table === table).map(({ node }) => node);
    note(`  ${table.slice(0, HASH_CHARS)} on node ${served.join(', ')}`);
  }
}

const COLUMNS: readonly Column<StoredNode>[] = [
  { title: 'NODE', value: ({ node }) => node, align: 'right' },
  { title: 'URL', value: ({ url }) => url, whole: true },
  { title: 'STATE', value: describeState, whole: true },
  { title: 'UP', value: (node) => (node.state === 'serving' ? formatDuration(node.read_at - node.started_at) : '') },
  { title: 'TABLE', value: ({ table }) => table?.slice(0, HASH_CHARS) ?? 'none', whole: true },
  { title: 'VERSION', value: ({ version }) => version },
];

function describeState({ state, lease_expires_at, read_at }: StoredNode): string {
  if (state === 'serving')
    return lease_expires_at > read_at ? `serving, lease ${formatDuration(lease_expires_at - read_at)}` : 'serving';
  return `${state} ${formatDuration(read_at - lease_expires_at)} ago`;
}

const LAST_SEEN = 'using the subscriptions that this home last read';

/** Updates the home's copy from the database. If the database is unavailable, prints a note and uses the copy. */
export async function refreshSubscriptions(context: CliContext, plan: PostgresPlan): Promise<void> {
  try {
    const pulled = await withShared(context, plan, { create: false }, (parts) =>
      pullSubscriptions(parts, false).catch((error: unknown) => {
        if (!(error instanceof InvalidSubscriptions)) throw error;
        printNote(context, `${error.message.replace('\n', '; ')}. ${LAST_SEEN}`);
        return null;
      }),
    );
    if (pulled?.problem != null) printNote(context, pulled.problem);
    const sealed = [...(pulled?.sealed ?? [])].map((name) => `"${visible(name)}"`).join(', ');
    if (sealed !== '') printNote(context, `cannot be decrypted with the gateway.store.key set here: ${sealed}`);
  } catch (error) {
    if (error instanceof UnknownStore) return;
    if (!(error instanceof StoreOutOfReach)) throw error;
    printNote(context, `${error.message}: ${LAST_SEEN}`);
  }
}

/** @throws CliError when the database cannot be used */
export async function useSubscriptions<T>(
  context: CliContext,
  plan: PostgresPlan,
  use: (read: () => Promise<SharedText>) => Promise<T>,
): Promise<T> {
  const result = await withShared(context, plan, { create: true }, async ({ documents, seal, path }) => ({
    value: await use(async () => {
      const { version, text } = await documents.read(SUBSCRIPTIONS);
      return {
        text: version === 0 ? null : openOrNull(context, text, { seal, path }),
        put: (next) => documents.replace(SUBSCRIPTIONS, version, sealed(next, seal)),
      };
    }),
  }));
  if (result === null) throw new Error('a database that is created has tables');
  return result.value;
}

/** Null if the home's copy replaces the stored text. @throws CliError for an invalid text if there is no copy */
function openOrNull(
  context: CliContext,
  text: string,
  { seal, path }: Pick<CopyParts, 'seal' | 'path'>,
): string | null {
  try {
    return openSubscriptions(text, seal).text;
  } catch (error) {
    if (!(error instanceof InvalidSubscriptions)) throw error;
    if (!existsSync(path)) throw refusalOf(error);
    const reason = error.message.split('\n', 1)[0];
    printNote(context, `${reason}: replaced with those that this home last read, plus the change`);
    return null;
  }
}

function sealed(text: string, seal: CopyParts['seal']): string {
  try {
    return sealSubscriptions(text, seal);
  } catch (error) {
    throw new CliError(
      messageOf(error),
      'set gateway.store.key on every gateway (openssl rand -hex 32), or give the secret as a reference: --secret env:NAME_SECRET',
    );
  }
}

const withShared = <T>(
  context: CliContext,
  plan: PostgresPlan,
  opening: { readonly create: boolean },
  use: (parts: CopyParts) => Promise<T>,
): Promise<T | null> =>
  useSharedState(context, plan, opening, ({ documents }) =>
    use({ ...copyParts(context, plan, createSecrets(context)), documents }),
  );
