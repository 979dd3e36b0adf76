/**
 * Checks the gateway as a whole: configuration, table, control socket, port, sandbox, agent programs and secrets.
 */
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { messageOf } from '../../../../base/errors.ts';
import { agentLabel, agentPlans } from '../../../../base/names.ts';
import type { Check } from '../../../../cli/base/check.ts';
import { gatewayCheck } from '../../../../cli/base/check.ts';
import type { CliContext } from '../../../../cli/base/context.ts';
import { CliError } from '../../../../cli/base/errors.ts';
import { runtimeParts } from '../../../../cli/base/module.ts';
import { tryCallGateway } from '../../../../cli/gateway/ask-gateway.ts';
import type { CompileResult } from '../../../../compiler/compile.ts';
import { agentRefs, gatewayRefs } from '../../../../runtime/deliver/missing-secrets.ts';
import { missingAgent } from '../../../../runtime/dispatch/agents/program.ts';
import { silentLog } from '../../../../runtime/platform/log.ts';
import type { RunProcess } from '../../../../runtime/platform/process/run-process.ts';
import { runProcess } from '../../../../runtime/platform/process/run-process.ts';
import type { SecretResolver } from '../../../../runtime/platform/secrets.ts';
import { printSecretRef, routeSecretRefs, SecretError, userHome } from '../../../../runtime/platform/secrets.ts';
import { createConfinement, sandboxesOf } from '../../../../runtime/service/parts.ts';
import type { GatewayStatus } from '../../../../schemas/built/operations/types.ts';
import type { RouteTable, SecretRef, ServerPlan } from '../../../../schemas/generated/types.ts';

/** Reports the errors and warnings of the configuration. */
export function checkConfiguration({ diagnostics, output, root, files }: CompileResult): Check {
  const [errors, warnings] = (['error', 'warning'] as const).map(
    (each) => diagnostics.filter(({ severity }) => severity === each).length,
  ) as [number, number];
  const counts = `${root}: ${count(errors, 'error')}, ${count(warnings, 'warning')}`;
  const about = { subject: 'configuration', check: 'compiles', detail: counts };
  const [first] = diagnostics;
  if (files.length === 0 && first !== undefined) {
    return gatewayCheck({ ...about, detail: first.message, status: 'failed', fix: first.hint ?? 'hookwright lint' });
  }
  if (output === null) return gatewayCheck({ ...about, status: 'failed', fix: 'hookwright lint' });
  if (warnings > 0) return gatewayCheck({ ...about, status: 'warning', fix: 'hookwright lint' });
  return gatewayCheck({
    ...about,
    status: 'ok',
    detail: `${root}: ${count(Object.keys(output.table.routes).length, 'route')}`,
  });
}

const count = (number: number, noun: string): string => `${number} ${noun}${number === 1 ? '' : 's'}`;

/** Warns about ignored configurations, which may be edited by mistake. */
export const checkOtherConfigs = ({ root, ignored }: CompileResult): readonly Check[] =>
  ignored.map((other) => {
    const detail = `${other} is ignored, because ${root} is used`;
    const about = { subject: 'configuration', check: 'only one', detail };
    return gatewayCheck({ ...about, status: 'warning', fix: 'remove it, or choose it with --config' });
  });

/** Checks the compiled table, which `serve` loads; `gateway run` compiles the configuration itself. */
export function checkTable({ root, output }: CompileResult): Check {
  const path = join(dirname(root), 'build', 'routes.json');
  const about = { subject: 'table', check: 'readable' };
  if (!existsSync(path)) {
    return gatewayCheck({ ...about, status: 'ok', detail: 'not compiled yet; `gateway run` compiles it' });
  }
  try {
    const { hash } = JSON.parse(readFileSync(path, 'utf8')) as RouteTable;
    const isCurrent = output === null || hash === output.table.hash;
    if (isCurrent) return gatewayCheck({ ...about, status: 'ok', detail: path });
    const detail = `${path} does not match the configuration`;
    return gatewayCheck({ ...about, status: 'warning', detail, fix: 'hookwright compile' });
  } catch (error) {
    const detail = `${path}: ${messageOf(error)}`;
    return gatewayCheck({ ...about, status: 'failed', detail, fix: 'hookwright compile' });
  }
}

/** The status of the home's gateway. `silence` is set if it runs without a usable answer. */
export interface ProbedGateway {
  readonly status: GatewayStatus | null;
  readonly silence: CliError | null;
}

export async function findGateway(context: CliContext): Promise<ProbedGateway> {
  try {
    return { status: await tryCallGateway(context, 'status', {}), silence: null };
  } catch (error) {
    if (error instanceof CliError) return { status: null, silence: error };
    throw error;
  }
}

export function checkSilence({ message, hints }: CliError): Check {
  return gatewayCheck({
    subject: 'gateway',
    check: 'answers',
    status: 'failed',
    detail: message,
    fix: hints.join('; '),
  });
}

/** Reports quarantined subscriptions of the running gateway. */
export function checkSubscriptions({ subscriptions }: GatewayStatus): Check {
  const { serving, quarantined, error } = subscriptions;
  const about = { subject: 'gateway', check: 'subscriptions' };
  const fix = 'hookwright webhook list';
  if (error !== null) return gatewayCheck({ ...about, status: 'warning', detail: error, fix });
  if (quarantined.length === 0) return gatewayCheck({ ...about, status: 'ok', detail: `${serving} served` });
  const detail = `not served: ${quarantined.map(({ name, reason }) => `${name} (${reason})`).join(', ')}`;
  return gatewayCheck({ ...about, status: 'warning', detail, fix });
}

/** Reports routes whose rate limit has refused requests. */
export const checkRateLimits = ({ rate_limited = [] }: Partial<GatewayStatus>): readonly Check[] =>
  rate_limited.map((detail) => {
    const fix = 'raise `rate_limit`; hookwright requests list --outcome rate_limited';
    return gatewayCheck({ subject: 'gateway', check: 'rate_limit', status: 'warning', detail, fix });
  });

/** A missing program is only a warning: the gateway serves, but runs fail until it is installed. */
export function checkAgentPrograms({ profiles }: RouteTable, { home, env }: CliContext): readonly Check[] {
  return Object.values(profiles).flatMap((profile) =>
    agentPlans(profile).flatMap(([name, agent]): Check[] => {
      if (agent.kind !== 'command') return [];
      const missing = missingAgent(agent, { folder: join(home, profile.home), env });
      const about = { profile: profile.name, subject: agentLabel(null, name), check: 'program' };
      if (missing === null) return [{ ...about, status: 'ok', detail: agent.argv[0] ?? '', fix: null }];
      const fix = 'install it, or use its full path in `command`: a service may have a shorter PATH';
      return [{ ...about, status: 'warning', detail: missing, fix }];
    }),
  );
}

const CLOSED = 'create it, correct its path, or remove it from the configuration';

/** Runs a program in the configured sandbox; no check without one. */
export async function checkSandbox(table: RouteTable, context: CliContext): Promise<readonly Check[]> {
  const plans = sandboxesOf(table);
  if (plans.length === 0) return [];
  const { home, env, modules } = context;
  const parts = runtimeParts(modules);
  const run: RunProcess = (request) => runProcess(request, context);
  const machine = { run, home, userHome: userHome(env), hidden: () => [], log: silentLog, sweep: false };
  const confinement = createConfinement(parts, machine);
  const problem = await confinement.problem();
  const about = { subject: 'sandbox', check: 'works' };
  if (problem !== null) {
    const [detail = '', fix = 'read https://github.com/containers/bubblewrap#readme'] = problem.split(/: run (?=`)/);
    return [gatewayCheck({ ...about, status: 'failed', detail, fix: fix.replaceAll('`', '') })];
  }
  const closed = (await confinement.closed(plans)).map((detail) =>
    gatewayCheck({ subject: 'sandbox', check: 'path', status: 'warning', detail, fix: CLOSED }),
  );
  return [gatewayCheck({ ...about, status: 'ok', detail: 'started a program in a sandbox' }), ...closed];
}

/** @param url of the running gateway of this home, or null */
export async function checkPort({ host, port }: ServerPlan, url: string | null): Promise<Check> {
  const about = { subject: 'server', check: 'port' };
  if (url !== null) return gatewayCheck({ ...about, status: 'ok', detail: `the gateway listens on ${url}` });
  const problem = await tryListen(host, port);
  if (problem === null) return gatewayCheck({ ...about, status: 'ok', detail: `${host}:${port} is free` });
  const detail = `${host}:${port} is unavailable (${problem})`;
  const fix = 'stop the program that listens there, or set platforms.webhook.extra.port';
  return gatewayCheck({ ...about, status: 'failed', detail, fix });
}

function tryListen(host: string, port: number): Promise<string | null> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(null)));
  });
}

interface Use {
  readonly profile: string | null;
  readonly subject: string;
  readonly ref: SecretRef;
}

/** A failed check for each missing secret, or one passed check. */
export function checkSecrets(table: RouteTable, secrets: SecretResolver): readonly Check[] {
  const uses = [...uniqueUses(table)];
  const missing = uses.flatMap((use): readonly Check[] => {
    const problem = problemOf(use.ref, secrets);
    if (problem === null) return [];
    const fix = `set ${printSecretRef(use.ref).replace(/^env:/, '')}`;
    return [{ profile: use.profile, subject: use.subject, check: 'secret', status: 'failed', detail: problem, fix }];
  });
  if (missing.length > 0) return missing;
  const detail = uses.length === 0 ? 'none used' : 'all set';
  return [{ profile: null, subject: 'routes', check: 'secrets', status: 'ok', detail, fix: null }];
}

/** Checks a shared reference once, for its first route. */
function uniqueUses(table: RouteTable): Iterable<Use> {
  const uses = new Map<string, Use>();
  const add = (use: Use): void => {
    const key = JSON.stringify([use.ref.kind, use.ref.value, use.ref.scope]);
    if (use.ref.kind !== 'literal' && !uses.has(key)) uses.set(key, use);
  };
  if (table.server.secret !== null) add({ profile: null, subject: 'server', ref: table.server.secret });
  for (const route of Object.values(table.routes)) {
    for (const ref of routeSecretRefs(route)) add({ profile: route.profile, subject: `route ${route.name}`, ref });
  }
  for (const use of agentRefs(table)) add({ ...use, subject: 'agent' });
  for (const { where, ref } of gatewayRefs(table)) add({ profile: null, subject: where, ref });
  return uses.values();
}

function problemOf(ref: SecretRef, secrets: SecretResolver): string | null {
  try {
    secrets.resolve(ref);
    return null;
  } catch (error) {
    if (error instanceof SecretError) return error.message;
    throw error;
  }
}
