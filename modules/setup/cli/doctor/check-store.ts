/** Checks the store, through the running gateway or in the file, and creates the bug report of `doctor --report`. */
import { accessSync, constants, existsSync, rmSync, writeFileSync } from 'node:fs';
import { arch, platform, release } from 'node:os';
import { dirname, join } from 'node:path';
import { agentPlans } from '../../../../base/names.ts';
import type { Check } from '../../../../cli/base/check.ts';
import { gatewayCheck } from '../../../../cli/base/check.ts';
import type { CliContext } from '../../../../cli/base/context.ts';
import { packageVersion } from '../../../../cli/base/context.ts';
import { CliError } from '../../../../cli/base/errors.ts';
import { loadPart } from '../../../../cli/base/module.ts';
import { describeDead, LIST_DEAD } from '../../../../cli/deliveries/filter.ts';
import { describePause } from '../../../../cli/output/table.ts';
import { useStore } from '../../../../cli/store/use-store.ts';
import type { CompileResult } from '../../../../compiler/compile.ts';
import { maskUrls } from '../../../../compiler/diagnostics/printable.ts';
import type { ShippedCatalog } from '../../../../compiler/source/load-catalog.ts';
import { Redactor } from '../../../../runtime/deliver/redact.ts';
import { describeDiskError } from '../../../../runtime/platform/files.ts';
import { createSecrets, resolvable, tableSecretRefs } from '../../../../runtime/platform/secrets.ts';
import type { Store } from '../../../../runtime/store/contract.ts';
import type { LastError } from '../../../../runtime/store/queries.ts';
import type { PausedRoute } from '../../../../runtime/store/records.ts';
import { pausedRoutes } from '../../../../runtime/store/records.ts';
import { storePath } from '../../../../runtime/store/store-path.ts';
import type { GatewayStatus } from '../../../../schemas/built/operations/types.ts';
import type { RouteTable } from '../../../../schemas/generated/types.ts';

const SUBJECT = 'store';
/** Free space that the home needs, in bytes: the size of the store's write test after a full disk. */
const ROOM_BYTES = 65_536;

/** @param gateway the running gateway of the home, or null */
export async function checkStore(context: CliContext, gateway: GatewayStatus | null): Promise<readonly Check[]> {
  const problem = gateway?.store.problem ?? null;
  if (problem !== null) return [refusing(problem.kind, problem.message)];
  const check = 'readable';
  try {
    if (gateway === null) tryToWrite(context.home);
    const checks = await useStore(context, (store) => look(store, context));
    return checks ?? [gatewayCheck({ subject: SUBJECT, check, status: 'ok', detail: 'created at the next start' })];
  } catch (error) {
    const hints = error instanceof CliError ? error.hints : [];
    const fix = hints[0] ?? `free space on its disk, or give this user write access to ${context.home}`;
    return [gatewayCheck({ subject: SUBJECT, check, status: 'failed', detail: describeDiskError(error), fix })];
  }
}

function refusing(kind: string, message: string): Check {
  const fix =
    kind === 'unreadable'
      ? 'docs/backups.md, "When the disk damages the file"'
      : 'fix the cause; the store then recovers automatically';
  return gatewayCheck({ subject: SUBJECT, check: 'accepts events', status: 'failed', detail: message, fix });
}

async function look(store: Store, context: CliContext): Promise<readonly Check[]> {
  const file = await lookAtFile(store, context);
  return file.status === 'failed' ? [file] : [file, ...(await lookAtWork(store, context))];
}

/** For a database; its own checks report whether it is usable. */
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
  const pauseChecks = pausedRoutes(await store.read({ kind: 'guard_rows', of: 'pause' }), now).map(checkPause);
  const detail = describeDead(await store.read({ kind: 'dead_work' }), now);
  if (detail === null) return pauseChecks;
  const fix = `${LIST_DEAD}; after fixing the cause: hookwright deliveries replay --state dead`;
  return [...pauseChecks, gatewayCheck({ subject: 'deliveries', check: 'none dead', status: 'warning', detail, fix })];
}

function checkPause({ route, profile, until }: PausedRoute): Check {
  const detail = `route ${route} is ${describePause(true, until)}: its events wait`;
  const fix = `hookwright route resume ${route}`;
  return { profile, subject: `route ${route}`, check: 'not paused', status: 'warning', detail, fix };
}

async function lookAtFile(store: Store, { home, clock, modules }: CliContext): Promise<Check> {
  const { damage, oldest_open_at } = await store.read({ kind: 'overview', now: clock.now() });
  // Known damage is reported first, because counting may fail in a damaged file.
  if (damage !== null) return (await loadPart(modules, 'damage'))(damage);
  const off = await store.read({ kind: 'audit' });
  if (off.length > 0) {
    const fix = 'keep a copy of state.db and report this bug: every accepted event must be accounted for';
    return gatewayCheck({ subject: SUBJECT, check: 'conservation', status: 'failed', detail: off.join('; '), fix });
  }
  const path = storePath(home);
  const detail = oldest_open_at === null ? path : `${path}, with unfinished work`;
  return gatewayCheck({ subject: SUBJECT, check: 'readable', status: 'ok', detail });
}

/** @throws the system's error if the store cannot be opened or written */
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

/** Number of occurrences by value. */
type Counts = Readonly<Record<string, number>>;

/** Facts for a bug report, without names, texts, addresses or secrets of the user. */
export type FaultReport = Awaited<ReturnType<typeof createDoctorReport>>;

export async function createDoctorReport(
  context: CliContext,
  { output, diagnostics }: CompileResult,
  checks: readonly Check[],
) {
  const table = output?.table ?? null;
  const overview = await lastErrorOf(context);
  return {
    version: packageVersion(),
    node: process.version,
    platform: `${platform()} ${release()} ${arch()}`,
    /** Null if it does not compile. */
    config: table === null ? null : shapeOf(table, await context.catalog()),
    /** Diagnostics by rule. */
    diagnostics: count(diagnostics.map(({ rule }) => rule)),
    checks: checks
      .filter(({ status }) => status === 'failed' || status === 'warning')
      .map(({ check, status }) => ({ check, status })),
    last_error: overview === null ? null : describe(overview, context, table),
  };
}

/** Names of the shipped catalog are reported; others are counted as `own`. */
function shapeOf(table: RouteTable, shipped: ShippedCatalog) {
  const routes = Object.values(table.routes);
  const profiles = Object.values(table.profiles);
  const named = (kind: 'sources' | 'targets', name: string): string =>
    Object.hasOwn(shipped[kind], name) ? name : 'own';
  return {
    routes: count(routes.map(({ mode }) => mode)),
    sources: count(routes.map(({ source }) => (source === null ? 'any' : named('sources', source)))),
    targets: count(routes.flatMap(({ deliver }) => deliver.map(({ target }) => named('targets', target)))),
    agents: count(profiles.flatMap((profile) => agentPlans(profile).map(([, { kind }]) => kind))),
    profiles: profiles.length,
    jobs: Object.keys(table.jobs).length,
  };
}

function count(values: readonly string[]): Counts {
  const counts: Record<string, number> = {};
  for (const value of [...values].sort()) counts[value] = (counts[value] ?? 0) + 1;
  return counts;
}

/** Null if the store cannot be read, which is a failed check. */
async function lastErrorOf(context: CliContext): Promise<LastError | null> {
  try {
    const now = context.clock.now();
    return await useStore(context, async (store) => (await store.read({ kind: 'overview', now })).last_error);
  } catch {
    return null;
  }
}

function describe({ at, reason }: LastError, context: CliContext, table: RouteTable | null) {
  const redactor = new Redactor();
  if (table !== null) redactor.add(resolvable(tableSecretRefs(table), createSecrets(context)));
  const withoutPaths = redactor.redact(reason).replaceAll(context.home, '<home>').replaceAll(context.cwd, '<folder>');
  return { at: new Date(at).toISOString(), reason: maskUrls(withoutPaths) };
}
