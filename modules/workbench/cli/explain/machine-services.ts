/**
 * Provides explanations with this machine's lists, scripts, jobs, target drivers and marks, as the gateway has them. The code
 * behind each is loaded when it is needed.
 */

import { isLoopback } from '../../../../base/net.ts';
import type { CliContext } from '../../../../cli/base/context.ts';
import { CliError } from '../../../../cli/base/errors.ts';
import { runtimeParts } from '../../../../cli/base/module.ts';
import { createCompileRequest } from '../../../../cli/compile/compile-files.ts';
import { guardedFiles } from '../../../../cli/files.ts';
import { formatDiagnostics } from '../../../../cli/output/print.ts';
import type { OpenTable } from '../../../../cli/subscriptions/routes.ts';
import type { CompileOutput } from '../../../../compiler/compile.ts';
import { createMachineFacts } from '../../../../compiler/node/machine-facts.ts';
import { rulesInForce } from '../../../../compiler/rules/registry.ts';
import { missingSecrets } from '../../../../runtime/deliver/missing-secrets.ts';
import { listJobs } from '../../../../runtime/dispatch/scheduler/job.ts';
import type { RunScript } from '../../../../runtime/intake/script-runner.ts';
import { loadMarks } from '../../../../runtime/module.ts';
import type { GatewayFiles } from '../../../../runtime/platform/files.ts';
import { gatewayFiles } from '../../../../runtime/platform/files.ts';
import { createSecrets, userHome } from '../../../../runtime/platform/secrets.ts';
import { decodeOr } from '../../../../runtime/store/decode.ts';
import type { GuardKind } from '../../../../runtime/store/records.ts';
import { isJobPaused, NO_STATE } from '../../../../runtime/store/records.ts';
import type { ListFiles } from '../../../../runtime/table/in-file-set.ts';
import { RouteSlot } from '../../../../runtime/table/link.ts';
import type { LinkContext } from '../../../../runtime/table/link-context.ts';
import { LinkError } from '../../../../runtime/table/link-context.ts';
import { EXAMPLE_INSTALLATION, isInstallation } from '../../../../runtime/table/link-loop.ts';
import type { RoutePlan, RouteTable } from '../../../../schemas/generated/types.ts';
import type { ExplainedWorld, Explainer, ExplainingMachine } from '../../runtime/explain/create-explainer.ts';
import { createExplainer, linkContext } from '../../runtime/explain/create-explainer.ts';
import type { FoundLimits, LimitedRun } from '../../runtime/explain/delivery-refusal.ts';
import { storedLimits } from '../../runtime/explain/delivery-refusal.ts';
import type { JobOutcome } from '../../runtime/explain/explain-services.ts';
import { SWITCHED_OFF, Warnings } from '../../runtime/explain/explain-services.ts';

function listFiles({ stat, readText }: Pick<GatewayFiles, 'stat' | 'readText'>): ListFiles {
  return {
    stat: (path) => {
      const stats = stat(path);
      if (stats === undefined) throw new Error(`${path} is missing`);
      return stats;
    },
    read: readText,
  };
}

/**
 * Scripts run in the sandbox of `gateway.sandbox`, as in the gateway. Its code is loaded only when a script runs.
 * @param files absolute paths of the config files, which no script may read
 */
export async function scriptRunner(
  context: CliContext,
  table: RouteTable,
  files: readonly string[],
): Promise<RunScript> {
  const { env, home, clock, modules } = context;
  const [{ createScriptRunner }, { runProcess }, { createConfinement }, { silentLog }] = await Promise.all([
    import('../../../../runtime/intake/script-runner.ts'),
    import('../../../../runtime/platform/process/run-process.ts'),
    import('../../../../runtime/service/parts.ts'),
    import('../../../../runtime/platform/log.ts'),
  ]);
  const { realPath, describe } = gatewayFiles;
  const { signal } = new AbortController();
  const { confine, keep } = createConfinement(runtimeParts(modules), {
    run: (request) => runProcess(request, { clock, home }),
    ...guardedFiles(context, table, files),
    log: silentLog,
    sweep: false,
  });
  await keep(table, Object.values(table.routes));
  return createScriptRunner({ run: confine(table.gateway.sandbox ?? null), realPath, describe, env, home, signal });
}

/** @throws CliError if a store exists and cannot be read */
export async function jobState(
  context: CliContext,
  table: RouteTable,
  profile: string,
  id: string,
): Promise<JobOutcome> {
  // Loaded on demand: few routes fire jobs, and the module loads the store.
  const { useStore } = await import('../../../../cli/store/use-store.ts');
  const stored = await useStore(context, (store) => store.read({ kind: 'jobs' }));
  const job = listJobs(table, stored?.records ?? [], context.timezone).get(id);
  if (job === undefined || job.profile !== profile) return 'unknown_job';
  return isJobPaused(stored?.states[id] ?? NO_STATE, job.paused, context.clock.now()) ? 'paused' : 'accepted';
}

/** The id of this installation; a fixed id if no store exists yet. @throws CliError if a store exists and cannot be read */
export async function storedInstallation(context: CliContext): Promise<string> {
  const { useStore } = await import('../../../../cli/store/use-store.ts');
  const [row] = (await useStore(context, (store) => store.read({ kind: 'guard_rows', of: 'installation' }))) ?? [];
  return decodeOr<string>(row?.body, isInstallation, EXAMPLE_INSTALLATION);
}

/** See `storedLimits`. @throws CliError if a store exists and cannot be read */
export async function limitsHere(context: CliContext, run: LimitedRun): Promise<FoundLimits> {
  const { useStore } = await import('../../../../cli/store/use-store.ts');
  const { modules, timezone, clock } = context;
  return storedLimits(run, {
    parts: runtimeParts(modules),
    timezone,
    now: clock.now(),
    jobs: async () => (await useStore(context, (store) => store.read({ kind: 'jobs' })))?.records ?? [],
    rows: async (kinds) => {
      const read = (of: GuardKind) => useStore(context, (store) => store.read({ kind: 'guard_rows', of }));
      return (await Promise.all(Array.from(kinds, read))).flatMap((rows) => rows ?? []);
    },
  });
}

type Machine = Pick<CliContext, 'home' | 'env' | 'clock' | 'modules'>;

/** Why a gateway would not serve this route; null: it would. */
function linkProblem(plan: RoutePlan, table: RouteTable, context: LinkContext): string | null {
  try {
    new RouteSlot(plan, table, context);
    return null;
  } catch (error) {
    if (error instanceof LinkError) return error.message;
    throw error;
  }
}

/** The machine of a command's context. */
const machineOf = ({ home, env, clock, modules }: Machine): ExplainingMachine => ({
  home,
  userHome: userHome(env),
  files: listFiles(gatewayFiles),
  verifies: true,
  marks: (plan) => loadMarks(runtimeParts(modules), [plan]),
  // Loaded only for a delivery that may be refused, because it loads the drivers.
  async linkRefusal(table, secrets) {
    const [{ linkRefusal }, { createDeliveryContext }, { runProcess }, { silentLog }] = await Promise.all([
      import('../../runtime/explain/delivery-refusal.ts'),
      import('../../../../runtime/deliver/delivery-context.ts'),
      import('../../../../runtime/platform/process/run-process.ts'),
      import('../../../../runtime/platform/log.ts'),
    ]);
    const run = (request: Parameters<typeof runProcess>[0]) => runProcess(request, { clock, home });
    const delivery = createDeliveryContext({ home, env, clock, log: silentLog, run, modules: runtimeParts(modules) });
    const refusal = await linkRefusal(table, secrets, delivery.context);
    await delivery.close();
    return refusal;
  },
});

/** See `createExplainer`. */
export const createMachineExplainer = (machine: Machine, ...of: [RouteTable, ExplainedWorld]): Explainer =>
  createExplainer(machineOf(machine), ...of);

/** Compiles the configuration, for commands that show what it would do. */
interface OpenConfig extends Pick<OpenTable, 'table' | 'facts' | 'rules'>, Pick<CompileOutput, 'reach'> {
  /** Absolute paths of the files that were compiled. */
  readonly files: readonly string[];
}

/** @throws CliError if the configuration has errors, after printing them */
export async function openConfig(context: CliContext, configs: readonly string[] | undefined): Promise<OpenConfig> {
  const { compileRequest } = await import('../../../../cli/compile/compile-files.ts');
  const request = await createCompileRequest(context, { configs });
  const { output, diagnostics, inputs } = compileRequest(request);
  if (output !== null) {
    const facts = createMachineFacts(context, request.jobs);
    const { table, reach } = output;
    return { table, reach, facts, rules: rulesInForce(request.modules), files: inputs };
  }
  const errors = diagnostics.filter(({ severity }) => severity === 'error');
  context.stderr.write(formatDiagnostics('pretty', errors, context, 'stderr'));
  throw new CliError('the configuration has errors', 'hookwright lint shows all of them');
}

/** Returns a line for each route that cannot be served, and for each missing secret or setting. @param more a plan outside the table, such as a subscription's */
export function startProblems(context: CliContext, table: RouteTable, more: RoutePlan): readonly string[] {
  if (!table.server.enabled) return [SWITCHED_OFF];
  const { home, env, clock } = context;
  const secrets = createSecrets(context);
  const files = listFiles(gatewayFiles);
  const machine = { home, userHome: userHome(env), files, secrets, marks: null, clock, warnings: new Warnings() };
  const linking = { ...linkContext(table, machine), loopback: isLoopback(table.server.host) };
  const plans = new Set([...Object.values(table.routes), more]);
  const ofRoutes = [...plans].map((plan) => linkProblem(plan, table, linking)).filter((problem) => problem !== null);
  return [...ofRoutes, ...missingSecrets(table, secrets, () => false)];
}
