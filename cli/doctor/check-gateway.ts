/** Checks of the gateway as a whole: configuration, table, store, port. */
import { accessSync, constants, existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { messageOf } from '../../base/message-of.ts';
import type { CompileResult } from '../../compiler/compile.ts';
import { missingAgent } from '../../runtime/dispatch/agents/program.ts';
import { describeDiskError } from '../../runtime/platform/describe-disk-error.ts';
import type { StoreOverview } from '../../runtime/store/queries.ts';
import { storePath } from '../../runtime/store/store-path.ts';
import type { RouteTable, ServerPlan } from '../../schemas/generated/types.ts';
import type { CliContext } from '../base/context.ts';
import { useStore } from '../store/use-store.ts';
import type { Check } from './check.ts';
import { gatewayCheck } from './check.ts';

export function checkConfiguration({ diagnostics, output, root }: CompileResult): Check {
  const errors = diagnostics.filter(({ severity }) => severity === 'error').length;
  const warnings = diagnostics.length - errors;
  const counts = `${root}: ${errors} errors, ${warnings} warnings`;
  const about = { subject: 'configuration', check: 'compiles', detail: counts };
  if (output === null) return gatewayCheck({ ...about, status: 'failed', fix: 'hookwright lint' });
  if (warnings > 0) return gatewayCheck({ ...about, status: 'warning', fix: 'hookwright lint' });
  return gatewayCheck({ ...about, status: 'ok', detail: `${root}: ${Object.keys(output.table.routes).length} routes` });
}

/** The compiled table that `serve` would load; `gateway run` compiles by itself. */
export function checkTable({ root, output }: CompileResult): Check {
  const path = join(dirname(root), 'build', 'routes.json');
  const about = { subject: 'table', check: 'readable' };
  if (!existsSync(path)) {
    return gatewayCheck({ ...about, status: 'ok', detail: 'none compiled yet; `gateway run` compiles by itself' });
  }
  try {
    const { hash } = JSON.parse(readFileSync(path, 'utf8')) as RouteTable;
    const isCurrent = output === null || hash === output.table.hash;
    if (isCurrent) return gatewayCheck({ ...about, status: 'ok', detail: path });
    const detail = `${path} is not what the configuration compiles to now`;
    return gatewayCheck({ ...about, status: 'warning', detail, fix: 'hookwright compile' });
  } catch (error) {
    const detail = `${path}: ${messageOf(error)}`;
    return gatewayCheck({ ...about, status: 'failed', detail, fix: 'hookwright compile' });
  }
}

export async function checkStore(context: CliContext): Promise<Check> {
  const { home } = context;
  const path = storePath(home);
  const about = { subject: 'store', check: 'readable' };
  try {
    accessSync(existsSync(home) ? home : dirname(home), constants.W_OK);
    const found = await useStore(context, async (store) => ({
      overview: await store.read({ kind: 'overview', now: context.clock.now() }),
      off: await store.read({ kind: 'audit' }),
    }));
    if (found === null) return gatewayCheck({ ...about, status: 'ok', detail: 'none yet; the gateway makes it' });
    return judgeStore(path, found.overview, found.off);
  } catch (error) {
    const fix = `give this user write access to ${home}, or restore state.db from a backup`;
    return gatewayCheck({ ...about, status: 'failed', detail: describeDiskError(error), fix });
  }
}

function judgeStore(path: string, { damage, oldest_open_at }: StoreOverview, off: readonly string[]): Check {
  const subject = 'store';
  if (damage !== null) {
    const copy = damage.copy === null ? '' : `; the damaged file is kept as ${damage.copy}`;
    const detail = `${new Date(damage.at).toISOString()}: ${damage.message}${copy}`;
    const remove = damage.copy === null ? '' : '; remove the copy when you no longer need it, and this report ends';
    const fix = `check the disk, and ask the senders of that time to send again what is missing${remove}`;
    return gatewayCheck({ subject, check: 'undamaged', status: 'failed', detail, fix });
  }
  if (off.length > 0) {
    const fix = 'keep a copy of state.db and report this: every accepted event must be accounted for';
    return gatewayCheck({ subject, check: 'conservation', status: 'failed', detail: off.join('; '), fix });
  }
  const detail = oldest_open_at === null ? path : `${path}, with unfinished work`;
  return gatewayCheck({ subject, check: 'readable', status: 'ok', detail });
}

/** A warning: the gateway serves without it, and runs fail until it is there. */
export function checkAgents({ profiles }: RouteTable, { home, env }: CliContext): readonly Check[] {
  return Object.values(profiles).flatMap(({ name, home: folder, agent }): Check[] => {
    if (agent.kind !== 'command') return [];
    const missing = missingAgent(agent, { folder: join(home, folder), env });
    const about = { profile: name, subject: 'agent', check: 'program' };
    if (missing === null) return [{ ...about, status: 'ok', detail: agent.argv[0] ?? '', fix: null }];
    const fix = 'install it, or write its whole path into agent.command: a service may have a shorter PATH';
    return [{ ...about, status: 'warning', detail: missing, fix }];
  });
}

/** `url`: where a gateway of this home already listens. */
export async function checkPort({ host, port }: ServerPlan, url: string | null): Promise<Check> {
  const about = { subject: 'server', check: 'port' };
  if (url !== null) return gatewayCheck({ ...about, status: 'ok', detail: `the gateway listens on ${url}` });
  const problem = await tryListen(host, port);
  if (problem === null) return gatewayCheck({ ...about, status: 'ok', detail: `${host}:${port} is free` });
  const detail = `${host}:${port} cannot be had (${problem})`;
  const fix = 'stop what listens there, or set platforms.webhook.extra.port';
  return gatewayCheck({ ...about, status: 'failed', detail, fix });
}

function tryListen(host: string, port: number): Promise<string | null> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(null)));
  });
}
