/** Runs one command line: finds the command, parses its arguments, prints its failure, answers the exit code. */
import type { Command, Definition } from 'clipanion';
import { Cli } from 'clipanion';
import { isSystemError } from '../base/system-error.ts';
import { nodeFiles } from '../compiler/node/node-files.ts';
import { projectEnvPath } from '../compiler/source/search-config.ts';
import { suggest } from '../compiler/text/suggest.ts';
import { createPaint } from './base/colour.ts';
import type { CliContext } from './base/context.ts';
import { CliError, messageOf, UsageError } from './base/errors.ts';
import { packageVersion } from './base/package-version.ts';
import type { OptionSpec } from './command-line/argv.ts';
import { normaliseArgv, positionalSlots } from './command-line/argv.ts';
import type { CommandEntry } from './command-line/command-entry.ts';
import { findCommand } from './command-line/command-entry.ts';
import type { HelpLayout } from './command-line/help.ts';
import { formatCommandHelp, formatGroup, formatOverview } from './command-line/help.ts';
import { COMMANDS, GROUPS } from './commands/registry.ts';

const HELP = new Set(['-h', '--help']);

/** @returns 0 fine, 1 refused, 2 wrong usage. Never throws. */
export async function runCli(argv: readonly string[], context: CliContext): Promise<number> {
  try {
    return await dispatch(argv, withProjectEnv(context, argv));
  } catch (error) {
    return printFailure(error, context);
  }
}

/** The command line decides which config is in use, and with it which `.env` counts. */
function withProjectEnv(context: CliContext, argv: readonly string[]): CliContext {
  const configs = argv.flatMap((arg, at) =>
    arg === '--config' ? (argv[at + 1] ?? []) : arg.startsWith('--config=') ? arg.slice('--config='.length) : [],
  );
  const projectEnv = projectEnvPath(nodeFiles, context, configs);
  // Its own properties are not copied: one of them takes long to compute.
  return projectEnv === undefined
    ? context
    : Object.create(context, { projectEnv: { value: projectEnv, enumerable: true } });
}

async function dispatch(argv: readonly string[], context: CliContext): Promise<number> {
  const [first] = argv;
  if (first === 'help') return dispatch([...argv.slice(1), '--help'], context);
  if (first === '--version' || first === '-v') {
    context.stdout.write(`${packageVersion()}\n`);
    return 0;
  }
  const layout = helpLayout(context);
  if (first === undefined || HELP.has(first)) {
    (first === undefined ? context.stderr : context.stdout).write(formatOverview(COMMANDS, GROUPS, layout));
    return first === undefined ? 2 : 0;
  }
  const entry = findCommand(COMMANDS, argv);
  if (entry !== undefined) return runCommand(entry, argv.slice(entry.path.split(' ').length), context);
  if (COMMANDS.some((other) => other.path.startsWith(`${first} `)) && (argv[1] === undefined || HELP.has(argv[1]))) {
    (argv[1] === undefined ? context.stderr : context.stdout).write(formatGroup(COMMANDS, first, layout));
    return argv[1] === undefined ? 2 : 0;
  }
  throw unknownCommand(argv);
}

const WIDEST = 100;
const NARROWEST = 60;

function helpLayout({ colour, stdout }: CliContext): HelpLayout {
  const width = Math.max(NARROWEST, Math.min(WIDEST, stdout.columns ?? WIDEST));
  return { paint: createPaint(colour.stdout), width };
}

function unknownCommand(argv: readonly string[]): UsageError {
  const [first = '', second] = argv;
  if (first.startsWith('-')) {
    return new UsageError(
      `option ${first} comes before the command`,
      'write the command first: hookwright <command> [options]',
    );
  }
  const typed = second === undefined || second.startsWith('-') ? first : `${first} ${second}`;
  const close = closeCommand(typed, first);
  const next = close === undefined ? 'hookwright --help lists the commands' : `did you mean: hookwright ${close}`;
  return new UsageError(`unknown command "${typed}"`, next);
}

/** Words that other tools have for a command; the commands of a group go by their last word as well. */
const OTHER_WORDS: Readonly<Record<string, string>> = {
  version: '--version',
  validate: 'lint',
  check: 'lint',
  build: 'compile',
  run: 'gateway run',
  up: 'gateway start',
  down: 'gateway stop',
  setup: 'gateway setup',
  start: 'gateway start',
  restart: 'gateway reload',
  stop: 'gateway stop',
  status: 'gateway status',
  reload: 'gateway reload',
  logs: 'gateway logs',
  log: 'gateway logs',
  metrics: 'gateway metrics',
  routes: 'webhook list',
  subscribe: 'webhook subscribe',
  test: 'webhook test',
  replay: 'deliveries replay',
  send: 'deliver',
};

/** The command that was meant; a word for a group alone is that group's list. */
function closeCommand(typed: string, first: string): string | undefined {
  if (Object.hasOwn(OTHER_WORDS, typed)) return OTHER_WORDS[typed];
  const paths = COMMANDS.map(({ path }) => path);
  const groups = [...new Set(paths.flatMap((path) => (path.includes(' ') ? [path.split(' ')[0] ?? ''] : [])))];
  const group = groups.find((name) => name === first.replace(/s$/, '') || name === `${first}s`);
  const rest = typed === first ? '' : typed.slice(first.length);
  const renamed = group === undefined ? typed : `${group}${rest}`;
  if (group !== undefined && rest === '' && paths.includes(`${group} list`)) return `${group} list`;
  return paths.includes(renamed) ? renamed : suggest(renamed, [...paths, ...groups])[0];
}

async function runCommand(entry: CommandEntry, args: readonly string[], context: CliContext): Promise<number> {
  const command = await entry.load();
  const cli = new Cli<CliContext>({ binaryName: 'hookwright', enableCapture: false });
  cli.register(command);
  const [definition] = cli.definitions();
  if (definition === undefined) throw new Error(`${entry.path} has no usage`);
  const end = args.indexOf('--');
  if (args.slice(0, end === -1 ? undefined : end).some((arg) => HELP.has(arg))) {
    context.stdout.write(formatCommandHelp(command, definition, helpLayout(context)));
    return 0;
  }
  try {
    const parsed = parse(cli, [...entry.path.split(' '), ...checkedArgs(args, definition)], context);
    return (await parsed.execute()) ?? 0;
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    throw new UsageError(error.message, ...error.hints, `hookwright ${entry.path} --help shows its options`);
  }
}

/** The arguments in normal form, with as many positional ones as the command takes. */
function checkedArgs(args: readonly string[], definition: Definition): string[] {
  const normal = normaliseArgv(args, definition.options.map(optionSpec));
  const marker = normal.indexOf('--');
  const positionals = marker === -1 ? [] : normal.slice(marker + 1);
  const slots = positionalSlots(definition.usage);
  const missing = slots.filter((slot) => slot.startsWith('<'))[positionals.length];
  if (missing !== undefined) throw new UsageError(`${missing} is missing`, `usage: ${definition.usage}`);
  const extra = slots.includes('...') ? undefined : positionals[slots.length];
  if (extra !== undefined) throw new UsageError(`"${extra}" is one argument too many`, `usage: ${definition.usage}`);
  return normal;
}

function parse(cli: Cli<CliContext>, argv: string[], context: CliContext): Command<CliContext> {
  const { env, stdin, stdout, stderr, colorDepth } = context;
  try {
    // The parser copies what it gets, and copying the whole context would ask it for the time zone.
    const command = cli.process(argv, { env, stdin, stdout, stderr, colorDepth } as CliContext);
    command.context = context;
    return command;
  } catch (error) {
    // The parser repeats the usage below its reason; the reason is its first line.
    const [reason = ''] = messageOf(error).split('\n');
    throw new UsageError(`${reason.charAt(0).toLowerCase()}${reason.slice(1)}`);
  }
}

function optionSpec({ definition }: { readonly definition: string }): OptionSpec {
  const [names = '', value] = definition.split(' ');
  return { names: names.split(','), takesValue: value !== undefined };
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
