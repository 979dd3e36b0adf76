/**
 * The store on PostgreSQL for a command: it reads, and makes the changes of users. It has no lease, so it takes no
 * work. It notifies the gateways, which do the work that becomes due.
 */
import type { Clock } from '../../../../runtime/platform/clock.ts';
import { SharedClock } from '../../../../runtime/platform/clock.ts';
import type { Store } from '../../../../runtime/store/contract.ts';
import { StoreRefused, StoreUnavailable } from '../../../../runtime/store/contract.ts';
import { GroupCommit } from '../../../../runtime/store/group-commit.ts';
import type { Query, QueryResults } from '../../../../runtime/store/queries.ts';
import type { StorePart, UnitParts } from '../../../../runtime/store/store-part.ts';
import { joinParts } from '../../../../runtime/store/store-part.ts';
import { RefusedRows } from '../refused-rows.ts';
import { byMachineClock } from '../shift-instants.ts';
import type { DirectChanges } from './direct-changes.ts';
import { createDirectChanges } from './direct-changes.ts';
import type { PgConnect, PgConnection } from './driver.ts';
import { describePgError, loadDriver } from './driver.ts';
import { channelOf, noteOf, readServerTime } from './lease.ts';
import { migrate, quoteSchema, versionFor } from './migrate.ts';
import { pgState } from './pg-state.ts';
import { createPgQueries } from './read.ts';
import { LaneTurns } from './take-due.ts';
import { beginOf, beginReadOf, openScope, SnapshotReader, transact } from './transact.ts';
import { commitGroup, makeChanges } from './writer.ts';

export interface ClientOptions {
  /** A libpq URL. Never printed. */
  readonly url: string;
  readonly schema: string;
  readonly clock: Clock;
  /** True: create the tables if there are none. */
  readonly create: boolean;
  /** What modules bring to changes; default: nothing. */
  readonly parts?: readonly StorePart[];
  /** Records invalid rows. Default: does nothing. */
  readonly refused?: RefusedRows;
  /** Default: the driver's. */
  readonly connect?: PgConnect;
}

/** The node number in the counts of commands, and of gateways that have ended. */
const NO_NODE = 0;

/**
 * Opens the store; null when there are no tables yet. One connection reads; another one, opened with the first change,
 * writes. Rejects with StoreUnavailable when the database cannot be reached, with StoreRefused when it cannot be used.
 */
export async function openClientStore(options: ClientOptions): Promise<Store | null> {
  const { url, schema, clock, create, parts, refused = new RefusedRows() } = options;
  const quoted = quoteSchema(schema);
  const connectReal = options.connect ?? (await loadDriver());
  // No state outlives a transaction, so this also works behind a pooler.
  const connect = (): Promise<PgConnection> => connectReal({ url, name: 'hookwright command', prepare: false });
  const reader = new SnapshotReader(connect, beginReadOf(quoted));
  const shared = new SharedClock(clock);
  try {
    const db = await reader.open();
    await readServerTime(db, clock, shared.follow);
    if (create) await migrate(db, schema);
    else if ((await versionFor(db, schema)) === null) {
      await reader.close();
      return null;
    }
  } catch (error) {
    await reader.close();
    if (error instanceof StoreRefused) throw error;
    throw new StoreUnavailable(`cannot use the database: ${describePgError(error)}`);
  }
  const state = new SnapshotReader(connect, beginOf(quoted));
  const writer = new ClientWriter(connect, {
    begin: beginOf(quoted),
    channel: channelOf(schema),
    clock,
    parts: joinParts(parts),
  });
  const group = new GroupCommit({
    commit: (changes) => writer.commit(changes),
    beforeCommit: undefined,
    failed: () => {},
  });
  const queries = createPgQueries(reader.ask, refused);
  const store: Store = {
    write: (mutation, as) => group.write(mutation, as),
    read: <Q extends Query>(query: Q) =>
      (queries[query.kind] as unknown as (query: Q) => Promise<QueryResults[Q['kind']]>)(query),
    problem: () => null,
    shared: null,
    state: pgState({ reads: reader, writes: state, requests: state }),
    async close() {
      await group.settled();
      await Promise.all([reader.close(), state.close(), writer.close()]);
    },
  };
  return byMachineClock(store, () => shared.offset);
}

interface ClientParts {
  readonly begin: string;
  readonly channel: string;
  readonly clock: Clock;
  readonly parts: UnitParts;
}

class ClientWriter {
  private readonly connect: () => Promise<PgConnection>;
  private readonly parts: ClientParts;
  private readonly direct: DirectChanges;
  private db: PgConnection | null = null;

  constructor(connect: ClientWriter['connect'], parts: ClientWriter['parts']) {
    this.connect = connect;
    this.parts = parts;
    this.direct = createDirectChanges(new LaneTurns());
  }

  /** Commits one group at a time. Rejects when it is unknown whether the changes are stored. */
  async commit(changes: Parameters<typeof commitGroup>[0]): ReturnType<typeof commitGroup> {
    try {
      this.db ??= await this.connect();
    } catch (error) {
      const message = `cannot reach the database: ${describePgError(error)}`;
      return changes.map(() => ({ kind: 'unavailable', message }));
    }
    const { db } = this;
    return commitGroup(changes, (group) => this.make(db, group), this.parts.clock);
  }

  async close(): Promise<void> {
    await this.db?.close().catch(() => {});
  }

  private make(db: PgConnection, changes: Parameters<typeof commitGroup>[0]): ReturnType<typeof makeChanges> {
    return transact(db, this.parts.begin, async () => {
      const { scope, settle } = openScope(db, NO_NODE);
      const results = await settle(makeChanges(scope, this.direct, changes, this.parts.parts));
      await db.query('SELECT pg_notify($1, $2)', [this.parts.channel, noteOf(NO_NODE, 'jobs')]);
      return results;
    });
  }
}
