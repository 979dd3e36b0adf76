/**
 * Keeps a copy of the database's active table in the home, for `serve --table store:`. The gateway watches the copy as it
 * watches any table, and starts from it while the database is away.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { messageOf } from '../../../../base/message-of.ts';
import type { CliContext } from '../../../../cli/base/context.ts';
import { openHome } from '../../../../cli/base/context.ts';
import { CliError } from '../../../../cli/base/errors.ts';
import type { FollowedTable, PostgresPlan } from '../../../../cli/base/module.ts';
import { openDatabase, StoreOutOfReach } from '../../../../cli/store/configured-store.ts';
import type { Timer } from '../../../../runtime/platform/clock.ts';
import type { Logger } from '../../../../runtime/platform/log.ts';
import { writeAtomic } from '../../../../runtime/platform/write-atomic.ts';
import { ACTIVE_TABLE } from '../../../../runtime/store/shared.ts';
import type { SharedState, Store } from '../../../../runtime/store/store.ts';

/** Interval at which the active table is polled, and at which the first connection is retried, in ms. */
const LOOK_MS = 500;
const RETRY_MS = 2000;

/**
 * Settles once there is a table to serve; without a copy it waits for the database.
 * @throws CliError when no table is active, or the database cannot be used
 */
export async function followStoredTable(context: CliContext, plan: PostgresPlan, log: Logger): Promise<FollowedTable> {
  const follower = new TableFollower(context, plan, log);
  await follower.start();
  return follower;
}

class TableFollower implements FollowedTable {
  readonly folder: string;
  private readonly context: CliContext;
  private readonly plan: PostgresPlan;
  private readonly log: Logger;
  private store: Store | null = null;
  private version = 0;
  private told: string | null = null;
  private timer: Timer | null = null;
  private isStopped = false;

  constructor(context: CliContext, plan: PostgresPlan, log: Logger) {
    this.context = context;
    this.plan = plan;
    this.log = log;
    this.folder = join(openHome(context), 'stored-table');
  }

  async start(): Promise<void> {
    for (;;) {
      const reason = await this.look();
      if (reason === null || this.hasCopy()) break;
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
    if (!this.hasCopy())
      throw new CliError(
        'no table of the database is active',
        'hookwright table push, then hookwright table activate <hash>',
      );
    this.lookLater();
  }

  async stop(): Promise<void> {
    this.isStopped = true;
    this.timer?.cancel();
    await this.store?.close();
  }

  private hasCopy(): boolean {
    return existsSync(join(this.folder, 'routes.json'));
  }

  private lookLater(): void {
    if (this.isStopped) return;
    this.timer = this.context.clock.after(LOOK_MS, () => void this.look().then(() => this.lookLater()));
  }

  /** @returns why the database cannot be queried; null if it was. @throws CliError before the first time, when it never can */
  private async look(): Promise<string | null> {
    try {
      this.store ??= await openDatabase(this.context, this.plan, { create: true });
      if (this.store?.state != null) await this.pull(this.store.state);
      this.told = null;
      return null;
    } catch (error) {
      if (this.store === null && error instanceof CliError && !(error instanceof StoreOutOfReach)) throw error;
      const reason = messageOf(error);
      if (reason !== this.told) this.log.warn({ reason }, 'the active table cannot be read from the database');
      this.told = reason;
      return reason;
    }
  }

  private async pull({ documents, tables }: SharedState): Promise<void> {
    if ((await documents.version(ACTIVE_TABLE)) === this.version) return;
    const { version, text: hash } = await documents.read(ACTIVE_TABLE);
    if (version === 0) return;
    const files = await tables.load(hash);
    if (files === null) throw new Error(`the active table ${hash} is not in the database`);
    // The catalog first: a process that sees the new table finds its catalog.
    writeAtomic(join(this.folder, 'blueprints.json'), files.blueprints, 0o600);
    writeAtomic(join(this.folder, 'routes.json'), files.routes, 0o600);
    this.log.info({ table: hash }, 'took the active table from the database');
    this.version = version;
  }
}
