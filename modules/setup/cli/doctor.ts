/** `hookwright doctor`: checks everything a gateway needs, and prints what to do about each problem. */

import type { Style } from '../../../base/paint.ts';
import { createPaint } from '../../../base/paint.ts';
import type { Check, CheckStatus } from '../../../cli/base/check.ts';
import type { CliContext } from '../../../cli/base/context.ts';
import { loadPart, runtimeParts } from '../../../cli/base/module.ts';
import type { ValuesOf } from '../../../cli/command-line/command.ts';
import { command, flag } from '../../../cli/command-line/command.ts';
import { configOption, jsonOption } from '../../../cli/command-line/options.ts';
import type { CompileRequest } from '../../../cli/compile/compile-files.ts';
import { compileRequest, createCompileRequest } from '../../../cli/compile/compile-files.ts';
import { printJson, printLine, terminalWidth, wrapBeside } from '../../../cli/output/print.ts';
import { formatTable } from '../../../cli/output/table.ts';
import { createServerLog } from '../../../cli/serve/server-log.ts';
import { configuredStore, UnknownStore } from '../../../cli/store/use-store.ts';
import type { CompileResult } from '../../../compiler/compile.ts';
import { createDeliveryContext } from '../../../runtime/deliver/delivery-context.ts';
import { runProcess } from '../../../runtime/platform/process/run-process.ts';
import { createSecrets } from '../../../runtime/platform/secrets.ts';
import type { GatewayStatus } from '../../../schemas/built/operations/types.ts';
import type { RouteTable } from '../../../schemas/generated/types.ts';
import type { ProbedGateway } from './doctor/check-gateway.ts';
import {
  checkAgentPrograms,
  checkConfiguration,
  checkOtherConfigs,
  checkPort,
  checkRateLimits,
  checkSandbox,
  checkSecrets,
  checkSilence,
  checkSubscriptions,
  checkTable,
  findGateway,
} from './doctor/check-gateway.ts';
import { checkStore, checkWork, createDoctorReport } from './doctor/check-store.ts';
import type { TargetChecks } from './doctor/check-targets.ts';
import { checkAlerts, checkClock, checkTargets } from './doctor/check-targets.ts';

const options = {
  live: flag('Also contact the services'),
  json: jsonOption,
  report: flag('Print facts for a bug report, without names, texts and secrets'),
  config: configOption,
};

type Options = ValuesOf<typeof options>;

export const doctorCommand = command({
  options,
  async run(context, given) {
    const gateway = await findGateway(context);
    const compiled = compileRequest(await createRequest(context, given, gateway));
    const checks = await checkAll(context, given, compiled, gateway);
    if (given.report) {
      printJson(context, await createDoctorReport(context, compiled, checks));
      return 0;
    }
    if (given.json) printJson(context, checks);
    else print(context, checks);
    return checks.some(({ status }) => status === 'failed') ? 1 : 0;
  },
});

async function checkAll(
  context: CliContext,
  given: Options,
  compiled: CompileResult,
  found: ProbedGateway,
): Promise<readonly Check[]> {
  const { status, silence } = found;
  const store = silence === null ? await checkStoreOf(context, given, status) : [checkSilence(silence)];
  const served = status === null ? [] : [checkSubscriptions(status), ...checkRateLimits(status)];
  const captureChecks = (await loadPart(context.modules, 'kept')).check(context);
  const files = [checkConfiguration(compiled), ...checkOtherConfigs(compiled), checkTable(compiled)];
  const gateway = [...files, ...store, ...(captureChecks === null ? [] : [captureChecks]), ...served];
  if (compiled.output === null) return gateway;
  const { table } = compiled.output;
  // A gateway that does not answer still holds its port.
  const port = silence === null ? [await checkPort(table.server, status?.url ?? null)] : [];
  const { checks, skews } = await targets(context, given, table);
  const checkVersions = await loadPart(context.modules, 'versions');
  return [
    ...gateway,
    ...port,
    checkClock(skews, given.live),
    ...checkSecrets(table, createSecrets(context)),
    ...checkAgentPrograms(table, context),
    ...(await checkVersions(context, table)),
    ...(await checkSandbox(table, context)),
    ...checkAlerts(table),
    ...checks,
  ];
}

async function checkStoreOf(
  context: CliContext,
  given: Options,
  gateway: GatewayStatus | null,
): Promise<readonly Check[]> {
  try {
    const plan = await configuredStore(context, given.config);
    if (plan.kind === 'postgres') {
      const { check } = await loadPart(context.modules, 'database');
      return [...(await check(context, plan)), ...(await checkWork(context))];
    }
  } catch (error) {
    // The configuration names the store, and it has errors.
    if (!(error instanceof UnknownStore)) throw error;
  }
  return checkStore(context, gateway);
}

/** An unreadable store is a failed check and does not prevent the other checks. */
async function createRequest(context: CliContext, given: Options, { silence }: ProbedGateway): Promise<CompileRequest> {
  const { cwd, home, env } = context;
  try {
    if (silence !== null) throw silence;
    return await createCompileRequest(context, { configs: given.config });
  } catch {
    const catalog = await context.catalog();
    return { cwd, home, configs: given.config ?? [], env: { ...env }, flags: {}, catalog, jobs: [], modules: [] };
  }
}

async function targets(context: CliContext, given: Options, table: RouteTable): Promise<TargetChecks> {
  const delivery = createDeliveryContext({
    home: context.home,
    env: context.env,
    clock: context.clock,
    log: createServerLog(context),
    run: (request) => runProcess(request, context),
    modules: runtimeParts(context.modules),
  });
  const giveUp = new AbortController();
  const ignore = context.onSignal(() => giveUp.abort());
  try {
    const options = { live: given.live, signal: giveUp.signal };
    return await checkTargets(table, createSecrets(context), { context: delivery.context, options });
  } finally {
    ignore();
    await delivery.close();
  }
}

function print(context: CliContext, checks: readonly Check[]): void {
  const paint = createPaint(context.colour.stdout);
  const width = terminalWidth(context);
  const [head = '', ...lines] = formatTable(checks, COLUMNS, width);
  printLine(context, paint('bold', head));
  for (const [index, line] of lines.entries()) {
    const { status, fix } = checks[index] ?? { status: 'ok', fix: null };
    printLine(context, STYLES[status] === null ? line : paint(STYLES[status], line));
    if (fix !== null) for (const text of wrapBeside('  fix: ', fix, width)) printLine(context, text);
  }
}

const COLUMNS = [
  { title: 'STATUS', value: ({ status }: Check) => status },
  {
    title: 'WHAT',
    value: ({ profile, subject }: Check) =>
      profile === null || profile === 'default' ? subject : `${profile}: ${subject}`,
    whole: true as const,
  },
  { title: 'CHECK', value: ({ check }: Check) => check, wrap: true as const },
  { title: 'FOUND', value: ({ detail }: Check) => detail, wrap: true as const },
];

const STYLES: Readonly<Record<CheckStatus, Style | null>> = {
  ok: null,
  skipped: 'dim',
  warning: 'yellow',
  failed: 'red',
};
