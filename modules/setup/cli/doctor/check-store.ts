/** Checks of the store, through the gateway that serves it or in the file. */

import { accessSync, constants, existsSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Check } from '../../../../cli/base/check.ts';
import { gatewayCheck } from '../../../../cli/base/check.ts';
import type { CliContext } from '../../../../cli/base/context.ts';
import { CliError } from '../../../../cli/base/errors.ts';
import { describeDead, LIST_DEAD } from '../../../../cli/deliveries/repeat.ts';
import { describePause } from '../../../../cli/output/time.ts';
import { useStore } from '../../../../cli/store/use-store.ts';
import { describeDiskError } from '../../../../runtime/platform/describe-disk-error.ts';
import type { PausedRoute } from '../../../../runtime/store/pauses.ts';
import { pausedRoutes } from '../../../../runtime/store/pauses.ts';
import type { DamageReport } from '../../../../runtime/store/queries.ts';
import type { Store } from '../../../../runtime/store/store.ts';
import { storePath } from '../../../../runtime/store/store-path.ts';
import type { GatewayStatus } from '../../../../schemas/built/operations/types.ts';

const SUBJECT = 'store';
/** Free space that the home needs, in bytes: what the store writes to find out whether its disk is writable again. */
const ROOM_BYTES = 65_536;

/** @param gateway the gateway that serves the home; null: none does */
export async function checkStore(context: CliContext, gateway: GatewayStatus | null): Promise<readonly Check[]> {
  const problem = gateway?.store.problem ?? null;
  if (problem !== null) return [refusing(problem.kind, problem.message)];
  const check = 'readable';
  try {
    if (gateway === null) tryToWrite(context.home);
    const found = await useStore(context, (store) => look(store, context));
    return found ?? [gatewayCheck({ subject: SUBJECT, check, status: 'ok', detail: 'none yet; the gateway makes it' })];
  } catch (error) {
    const hints = error instanceof CliError ? error.hints : [];
    const fix = hints[0] ?? `make room on its disk, or give this user write access to ${context.home}`;
    return [gatewayCheck({ subject: SUBJECT, check, status: 'failed', detail: describeDiskError(error), fix })];
  }
}

function refusing(kind: string, message: string): Check {
  const fix =
    kind === 'unreadable'
      ? 'docs/operations.md, "When the disk damages the file"'
      : 'it goes on by itself once that is over';
  return gatewayCheck({ subject: SUBJECT, check: 'takes events', status: 'failed', detail: message, fix });
}

async function look(store: Store, context: CliContext): Promise<readonly Check[]> {
  const file = await lookAtFile(store, context);
  return file.status === 'failed' ? [file] : [file, ...(await lookAtWork(store, context))];
}

/** For a database, of which other checks say whether it can be used. */
export async function checkWork(context: CliContext): Promise<readonly Check[]> {
  try {
    return (await useStore(context, (store) => lookAtWork(store, context))) ?? [];
  } catch (error) {
    if (error instanceof CliError) return [];
    throw error;
  }
}

async function lookAtWork(store: Store, { clock }: CliContext): Promise<readonly Check[]> {
  const now = clock.now();
  const held = pausedRoutes(await store.read({ kind: 'guard_rows', of: 'pause' }), now).map(checkPause);
  const detail = describeDead(await store.read({ kind: 'dead_work' }), now);
  if (detail === null) return held;
  const fix = `${LIST_DEAD}; once the cause is gone: hookwright deliveries replay --state dead`;
  return [...held, gatewayCheck({ subject: 'deliveries', check: 'none given up', status: 'warning', detail, fix })];
}

function checkPause({ route, profile, until }: PausedRoute): Check {
  const detail = `route ${route} is ${describePause(true, until)}: nothing of it runs`;
  const fix = `hookwright route resume ${route}`;
  return { profile, subject: `route ${route}`, check: 'goes on', status: 'warning', detail, fix };
}

async function lookAtFile(store: Store, { home, clock }: CliContext): Promise<Check> {
  const { damage, oldest_open_at } = await store.read({ kind: 'overview', now: clock.now() });
  // Counting may fail in a damaged file, so known damage is reported first.
  if (damage !== null) return damaged(damage);
  const off = await store.read({ kind: 'audit' });
  if (off.length > 0) {
    const fix = 'keep a copy of state.db and report this: every accepted event must be accounted for';
    return gatewayCheck({ subject: SUBJECT, check: 'conservation', status: 'failed', detail: off.join('; '), fix });
  }
  const path = storePath(home);
  const detail = oldest_open_at === null ? path : `${path}, with unfinished work`;
  return gatewayCheck({ subject: SUBJECT, check: 'readable', status: 'ok', detail });
}

function damaged({ at, message, copy }: DamageReport): Check {
  const kept = copy === null ? '' : `; the damaged file is kept as ${copy}`;
  const detail = `${new Date(at).toISOString()}: ${message}${kept}`;
  const remove = copy === null ? '' : '; remove the copy when you no longer need it, and this report ends';
  const fix = `check the disk, and ask the senders of that time to send again what is missing${remove}`;
  return gatewayCheck({ subject: SUBJECT, check: 'undamaged', status: 'failed', detail, fix });
}

/** @throws the system's error where the store could not be opened or written */
function tryToWrite(home: string): void {
  if (!existsSync(home)) {
    accessSync(dirname(home), constants.W_OK);
    return;
  }
  const probe = join(home, `.doctor-${process.pid}.tmp`);
  try {
    writeFileSync(probe, Buffer.alloc(ROOM_BYTES), { mode: 0o600 });
  } finally {
    rmSync(probe, { force: true });
  }
}
