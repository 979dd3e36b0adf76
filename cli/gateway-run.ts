/** `hookwright gateway run`: compiles, serves, and recompiles on change, in the foreground. */
import { Redactor } from '../runtime/deliver/redact.ts';
import type { ProcessLogger } from '../runtime/platform/logger.ts';
import type { CliContext } from './base/context.ts';
import { CliError } from './base/errors.ts';
import type { ValuesOf } from './command-line/command.ts';
import { command } from './command-line/command.ts';
import {
  configOption,
  failOnOption,
  hostOption,
  logFileOption,
  noLastGoodOption,
  outOption,
  portOption,
} from './command-line/options.ts';
import { createCompileRequest } from './compile/compile-files.ts';
import { DIAGNOSTIC_WIDTH, noteIgnored } from './output/print.ts';
import { lastGood } from './serve/last-good.ts';
import type { RecompileReport, RecompileRequest } from './serve/recompile.ts';
import { recompile } from './serve/recompile.ts';
import { serveGateway } from './serve/serve-gateway.ts';
import { createServerLog } from './serve/server-log.ts';

const options = {
  config: configOption,
  out: outOption,
  failOn: failOnOption(
    'Reject a changed configuration that would no longer accept captured requests, or would change their outcome',
  ),
  host: hostOption,
  port: portOption,
  logFile: logFileOption,
  noLastGood: noLastGoodOption,
};

type Options = ValuesOf<typeof options>;

export const gatewayRunCommand = command({
  options,
  async run(context, given) {
    const redactor = new Redactor();
    const log = createServerLog(context, redactor.redact, given.logFile);
    try {
      return await serve(context, given, log, redactor);
    } catch (error) {
      // In the background every line of the log is JSON.
      if (given.logFile === undefined || !(error instanceof CliError)) throw error;
      log.error({ reason: error.message, hints: error.hints }, 'the gateway could not start');
      log.flush();
      return error.exitCode;
    }
  },
});

async function serve(context: CliContext, given: Options, log: ProcessLogger, redactor: Redactor): Promise<number> {
  // Created for each compile, because jobs may have been added to the store.
  const request = (): Promise<RecompileRequest> => recompileRequest(context, given);
  const first = await compileFirst(context, given, await request(), log);
  return serveGateway(context, {
    folder: first.folder,
    host: given.host,
    port: given.port,
    logFile: given.logFile ?? null,
    log,
    redactor,
    recompile: { request, first },
    lastGood: given.noLastGood ? null : lastGood(context, first.root),
  });
}

async function recompileRequest(context: CliContext, given: Options): Promise<RecompileRequest> {
  const { config, host, port, out } = given;
  // The thread that recompiles loads the modules itself.
  const { modules: _, ...request } = await createCompileRequest(context, { configs: config, flags: { host, port } });
  return {
    ...request,
    out,
    color: context.colour.stderr,
    failOn: given.failOn ?? [],
    width: context.stderr.columns ?? DIAGNOSTIC_WIDTH,
  };
}

/** Compiles at the start. If the configuration is rejected, the previous table is served. */
async function compileFirst(
  context: CliContext,
  given: Options,
  request: RecompileRequest,
  log: ProcessLogger,
): Promise<RecompileReport> {
  const report = await recompile(request, context.modules);
  const { diagnostics, ignored } = report;
  if (given.logFile === undefined) {
    context.stderr.write(diagnostics);
    noteIgnored(context, report);
  } else {
    if (diagnostics !== '') log.warn({ diagnostics }, 'the configuration has problems');
    if (ignored.length > 0) log.warn({ config: report.root, ignored }, 'found a second configuration; ignoring it');
  }
  return report;
}
