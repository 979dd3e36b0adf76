/** `hookwright test`: runs the tests of configurations. */
import { createPaint } from '../../../base/paint.ts';
import type { CliContext } from '../../../cli/base/context.ts';
import { CliError, UsageError } from '../../../cli/base/errors.ts';
import type { ValuesOf } from '../../../cli/command-line/command.ts';
import { CONFIGS, command, flag, list, parsed, restArguments } from '../../../cli/command-line/command.ts';
import { formatOption } from '../../../cli/command-line/options.ts';
import { loadCompilerParts } from '../../../cli/compile/compiler-parts.ts';
import { formatDiagnostics, printNote, visible } from '../../../cli/output/print.ts';
import { watchInputs } from '../../../cli/serve/reloader.ts';
import { hasErrors } from '../../../compiler/diagnostics/diagnostic.ts';
import { nodeFiles } from '../../../compiler/node/node-files.ts';
import { findTests, loadTests } from './test/load-tests.ts';
import { formatCoverage, percentText, printRun, TEST_FORMATS } from './test/report.ts';
import type { TestRun } from './test/run-tests.ts';
import { runTests } from './test/run-tests.ts';
import { updateSnapshots } from './test/update-snapshots.ts';

/** Delay after a change, in ms, because editors write a file in several steps. */
const SETTLE_MS = 50;

const options = {
  config: list(CONFIGS, 'Configuration to test; repeatable'),
  format: formatOption(TEST_FORMATS, 'the results'),
  coverage: flag('List the parts of routes that no test reaches'),
  failUnder: parsed('percent', 'Exit 1 if coverage is lower', parsePercent),
  update: flag('Write the expectations of tests with `snapshot: true`'),
  watch: flag('Run again on every change, until Ctrl-C'),
};
const args = { files: restArguments('files') };

type Input = ValuesOf<typeof options> & ValuesOf<typeof args>;

export const testCommand = command({
  options,
  args,
  async run(context, given) {
    const once = async (): Promise<WatchedRun> => run(context, given);
    return given.watch ? again(context, once) : (await once()).code;
  },
});

async function run(context: CliContext, given: Input): Promise<WatchedRun> {
  const { config, files, format } = given;
  const paths = findTests(context, nodeFiles, files, config);
  if (paths.length === 0)
    throw new CliError('there are no tests', 'write tests into <name>.test.yaml next to the config');
  const modules = await loadCompilerParts(context.modules);
  const { loaded, diagnostics } = loadTests(context, paths, config, modules);
  if (format === 'pretty') context.stderr.write(formatDiagnostics('pretty', diagnostics, context, 'stderr'));
  const run = await updated(context, given, await runTests(context, loaded, config), loaded);
  if (run.results.length === 0 && diagnostics.length === 0) throw new CliError('the files contain no tests');
  context.stdout.write(printRun(format, run, diagnostics, createPaint(context.colour.stdout)));
  const isEnough = report(context, given, run);
  const failed = hasErrors(diagnostics) || run.results.some(({ failures }) => failures.length > 0);
  return { code: failed || !isEnough ? 1 : 0, inputs: [...paths, ...run.inputs] };
}

/** With --update, writes the snapshots first, then compares the other expectations. */
async function updated(
  context: CliContext,
  given: Input,
  run: TestRun,
  loaded: Parameters<typeof runTests>[1],
): Promise<TestRun> {
  if (!given.update) return run;
  const changed = updateSnapshots(run.results);
  for (const path of changed) printNote(context, `wrote ${path}`);
  if (changed.length === 0) return run;
  const paths = loaded.map(({ path }) => path);
  const again = loadTests(context, paths, given.config, []);
  return runTests(context, again.loaded, given.config);
}

/** @returns whether the coverage is sufficient */
function report(context: CliContext, given: Input, { coverage }: TestRun): boolean {
  const { failUnder: least = 0 } = given;
  const isEnough = coverage.percent >= least;
  if (given.coverage || !isEnough) {
    const stream = given.format === 'pretty' ? 'stdout' : 'stderr';
    const paint = createPaint(context.colour[stream]);
    context[stream].write(`${formatCoverage(coverage, paint).join('\n')}\n`);
  }
  if (!isEnough) printNote(context, `coverage is ${percentText(coverage.percent)} %, below the required ${least} %`);
  return isEnough;
}

/** Runs the tests again on every change, until it is stopped. */
async function again(context: CliContext, once: () => Promise<WatchedRun>): Promise<number> {
  let stopped = false;
  let wake = (): void => {};
  const unlisten = context.onSignal(() => {
    stopped = true;
    wake();
  });
  let inputs: readonly string[] = [];
  while (!stopped) {
    inputs = await attempt(context, once, inputs);
    await new Promise<void>((resolve) => {
      const stop = watchInputs(inputs, () => context.clock.after(SETTLE_MS, wake));
      const alive = setInterval(() => {}, 60_000);
      wake = () => {
        stop();
        clearInterval(alive);
        resolve();
      };
      if (stopped) wake();
    });
  }
  unlisten();
  return 0;
}

/** Prints an error and keeps watching the same files. */
async function attempt(
  context: CliContext,
  once: () => Promise<WatchedRun>,
  inputs: readonly string[],
): Promise<readonly string[]> {
  try {
    return (await once()).inputs;
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    printNote(context, [error.message, ...error.hints].map(visible).join('\n  '));
    return inputs;
  }
}

interface WatchedRun {
  readonly code: number;
  readonly inputs: readonly string[];
}

function parsePercent(text: string): number {
  const value = /^\d+(\.\d+)?$/.test(text) ? Number(text) : Number.NaN;
  if (value >= 0 && value <= 100) return value;
  throw new UsageError(`invalid --fail-under "${text}": a percentage from 0 to 100 is expected`);
}
