/**
 * Keeps a copy of the database's active table in the home, for `serve --table store:`. The gateway watches the copy as it
 * watches any table, and starts from it while the database is away.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { messageOf } from '../../../../base/message-of.ts';
import type { CliContext } from '../../../../cli/base/context.ts';
import { openHome } from '../../../../cli/base/context.ts';
import { CliError } from '../../../../cli/base/errors.ts';
import type { FollowedTable, PostgresPlan } from '../../../../cli/base/module.ts';
import { openDatabase, StoreOutOfReach } from '../../../../cli/store/use-store.ts';
import type { Timer } from '../../../../runtime/platform/clock.ts';
import type { Logger } from '../../../../runtime/platform/log.ts';
import { writeAtomic } from '../../../../runtime/platform/write-atomic.ts';
import { ACTIVE_TABLE } from '../../../../runtime/store/shared.ts';
import type { SharedState, Store } from '../../../../runtime/store/store.ts';
import { StoreRefused } from '../../../../runtime/store/store.ts';

/** Interval at which the active table is polled, and at which the first connection is retried, in ms. */
const LOOK_MS = 500;
const RETRY_MS = 2000;

/**
 * Settles once there is a table to serve; without a copy it waits for the database.
 * @throws CliError when no table is active, or the database cannot be used
 */
export async function followStoredTable(context: CliContext, plan: PostgresPlan, log: Logger): Promise<FollowedTable> {
  const folder = join(openHome(context), 'stored-table');
  const hasCopy = (): boolean => existsSync(join(folder, 'routes.json'));
  let store: Store | null = null;
  let version = 0;
  let told: string | null = null;
  /** Why the active table is not taken. */
  let refused: string | null = null;
  let timer: Timer | null = null;
  let isStopped = false;

  const pull = async ({ documents, tables }: SharedState): Promise<void> => {
    if ((await documents.version(ACTIVE_TABLE)) === version) return;
    const active = await documents.read(ACTIVE_TABLE);
    if (active.version === 0) return;
    const files = await tables.load(active.text, 'serve');
    if (files === null) throw new StoreRefused(`the active table ${active.text} is not in the database`);
    // The catalog first: a process that sees the new table finds its catalog.
    writeAtomic(join(folder, 'blueprints.json'), files.blueprints, 0o600);
    writeAtomic(join(folder, 'routes.json'), files.routes, 0o600);
    log.info({ table: active.text }, 'took the active table from the database');
    version = active.version;
  };

  /** @returns why the database cannot be queried; null if it was. @throws CliError before the first time, when it never can */
  const look = async (): Promise<string | null> => {
    try {
      store ??= await openDatabase(context, plan, { create: true });
      if (store?.state != null) await pull(store.state);
      told = null;
      refused = null;
    } catch (error) {
      refused = error instanceof StoreRefused ? messageOf(error).replaceAll('\n', '; ') : null;
      if (store === null && error instanceof CliError && !(error instanceof StoreOutOfReach)) throw error;
      const reason = messageOf(error);
      if (reason !== told) log.warn({ reason }, 'the active table cannot be read from the database');
      told = reason;
    }
    return told;
  };

  const lookLater = (): void => {
    if (!isStopped) timer = context.clock.after(LOOK_MS, () => void look().then(lookLater));
  };

  while ((await look()) !== null && !hasCopy()) await setTimeout(RETRY_MS);
  if (!hasCopy()) {
    throw new CliError(
      'no table of the database is active',
      'hookwright table push, then hookwright table activate <hash>',
    );
  }
  lookLater();
  return {
    folder,
    problem: () => refused,
    async stop() {
      isStopped = true;
      timer?.cancel();
      await store?.close();
    },
  };
}
