/** Runs a command line: finds the command, parses its arguments, prints its errors, and returns the exit code. */
import type { Command } from 'clipanion';
import { Cli } from 'clipanion';
import { createPaint } from '../base/paint.ts';
import { isSystemError } from '../base/system-error.ts';
import { nodeFiles } from '../compiler/node/node-files.ts';
import { projectEnvPath } from '../compiler/source/search-config.ts';
import type { CliContext } from './base/context.ts';
import { CliError, UsageError } from './base/errors.ts';
import { packageVersion } from './base/package-version.ts';
import { checkPositionals, normaliseArgv } from './command-line/argv.ts';
import type { CommandEntry } from './command-line/command-entry.ts';
import { findCommand } from './command-line/command-entry.ts';
import { shapeOf } from './command-line/command-shape.ts';
import type { HelpLayout } from './command-line/help.ts';
import { formatCommandHelp, formatGroup, formatOverview } from './command-line/help.ts';
import { unknownCommand } from './command-line/unknown-command.ts';
import { commandsOf, GROUPS } from './commands/registry.ts';

const HELP = new Set(['-h', '--help']);
const CONFIG = '--config=';

/** @returns 0 on success, 1 on failure, 2 on a usage error. Never throws. */
export async function runCli(argv: readonly string[], context: CliContext): Promise<number> {
  try {
    return await dispatch(argv, context);
  } catch (error) {
    return printFailure(error, context);
  }
}

async function dispatch(argv: readonly string[], context: CliContext): Promise<number> {
  const [first] = argv;
  if (first === 'help') return dispatch([...argv.slice(1), '--help'], context);
  if (first === '--version' || first === '-v') {
    context.stdout.write(`${packageVersion()}\n`);
    return 0;
  }
  const layout = helpLayout(context);
  const commands = commandsOf(context.modules);
  if (first === undefined || HELP.has(first)) {
    (first === undefined ? context.stderr : context.stdout).write(formatOverview(commands, GROUPS, layout));
    return first === undefined ? 2 : 0;
  }
  const entry = findCommand(commands, argv);
  if (entry !== undefined) return runCommand(entry, argv.slice(entry.path.split(' ').length), context);
  if (commands.some((other) => other.path.startsWith(`${first} `)) && (argv[1] === undefined || HELP.has(argv[1]))) {
    (argv[1] === undefined ? context.stderr : context.stdout).write(formatGroup(commands, first, layout));
    return argv[1] === undefined ? 2 : 0;
  }
  throw unknownCommand(commands, argv);
}

const WIDEST = 100;
const NARROWEST = 60;

function helpLayout({ colour, stdout }: CliContext): HelpLayout {
  const width = Math.max(NARROWEST, Math.min(WIDEST, stdout.columns ?? WIDEST));
  return { paint: createPaint(colour.stdout), width };
}

async function runCommand(entry: CommandEntry, args: readonly string[], context: CliContext): Promise<number> {
  const command = await entry.load();
  const shape = shapeOf(command);
  const cli = new Cli<CliContext>({ binaryName: 'hookwright', enableCapture: false });
  cli.register(command);
  const usage = cli.definitions()[0]?.usage ?? '';
  const end = args.indexOf('--');
  if (args.slice(0, end === -1 ? undefined : end).some((arg) => HELP.has(arg))) {
    context.stdout.write(formatCommandHelp({ command, shape, usage }, helpLayout(context)));
    return 0;
  }
  try {
    const argv = normaliseArgv(args, shape.options);
    checkPositionals(argv, shape, usage);
    const parsed = parse(cli, [...entry.path.split(' '), ...argv], context);
    parsed.context = withConfig(context, argv);
    return (await parsed.execute()) ?? 0;
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    throw new UsageError(error.message, ...error.hints, `hookwright ${entry.path} --help shows its options`);
  }
}

/** The parser copies its context, and copying all of it would compute the time zone. */
function parse(cli: Cli<CliContext>, argv: string[], context: CliContext): Command<CliContext> {
  const { env, stdin, stdout, stderr, colorDepth } = context;
  return cli.process(argv, { env, stdin, stdout, stderr, colorDepth } as CliContext);
}

/** The options decide which configuration is used, and so which store and which `.env`. @param argv in normal form */
function withConfig(context: CliContext, argv: readonly string[]): CliContext {
  const end = argv.indexOf('--');
  const options = end === -1 ? argv : argv.slice(0, end);
  const configs = options.flatMap((option) => (option.startsWith(CONFIG) ? option.slice(CONFIG.length) : []));
  const projectEnv = projectEnvPath(nodeFiles, context, configs);
  // Its properties are not copied, because one of them is slow to compute.
  return configs.length === 0 && projectEnv === undefined
    ? context
    : Object.create(context, {
        ...(configs.length === 0 ? {} : { configs: { value: configs, enumerable: true } }),
        ...(projectEnv === undefined ? {} : { projectEnv: { value: projectEnv, enumerable: true } }),
      });
}

function printFailure(error: unknown, context: CliContext): number {
  const paint = createPaint(context.colour.stderr);
  const label = paint('red', 'error:');
  if (error instanceof CliError) {
    const hints = error.hints.map((hint) => `\n  ${hint}`).join('');
    context.stderr.write(`${label} ${error.message}${hints}\n`);
    return error.exitCode;
  }
  if (isSystemError(error)) {
    context.stderr.write(`${label} ${error.message}\n`);
    return 1;
  }
  const stack = error instanceof Error ? (error.stack ?? error.message) : String(error);
  context.stderr.write(`${label} this is a bug in hookwright, please report it\n${stack}\n`);
  return 1;
}
