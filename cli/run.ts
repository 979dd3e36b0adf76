/** Runs a command line: finds the command, parses its arguments, prints its errors, and returns the exit code. */

import { dirname, resolve } from 'node:path';
import { isSystemError } from '../base/errors.ts';
import type { Paint } from '../base/paint.ts';
import { createPaint } from '../base/paint.ts';
import { isGlob } from '../compiler/globs/linear-glob.ts';
import { nodeFiles } from '../compiler/node/node-files.ts';
import { readText } from '../compiler/source/files.ts';
import { projectEnvPath, usualConfigs } from '../compiler/source/search-config.ts';
import type { CommandLine, ListedCommand } from './base/command.ts';
import type { CliContext } from './base/context.ts';
import { homeOf, packageVersion } from './base/context.ts';
import { CliError, UsageError } from './base/errors.ts';
import { OTHER_WORDS } from './built/other-words.ts';
import { describe, readCommandLine } from './command-line/clipanion.ts';
import type { CommandEntry } from './commands.ts';
import { commandsOf, findCommand, unknownCommand, visibleIn } from './commands.ts';
import { visible, withoutControls, wrapBeside, wrapWords } from './output/print.ts';

const HELP = new Set(['-h', '--help']);

/** @returns 0 on success, 1 on failure, 2 on a usage error. Never throws. */
export async function runCli(argv: readonly string[], context: CliContext): Promise<number> {
  const { env, stdout, stderr, colour } = context;
  const shown: CliContext = Object.assign(Object.create(context), {
    stdout: withoutControls(stdout, env, colour.stdout),
    stderr: withoutControls(stderr, env, colour.stderr),
    terminal: stderr,
  });
  try {
    return await dispatch(argv, shown);
  } catch (error) {
    return printFailure(error, shown);
  }
}

async function dispatch(words: readonly string[], outer: CliContext): Promise<number> {
  const { argv, home } = takeHome(words);
  const context = home === undefined ? outer : inHome(outer, resolve(outer.cwd, home));
  const [first] = argv;
  if (first === 'help') return dispatch([...argv.slice(1), '--help'], context);
  if (first === '--version' || first === '-v') {
    context.stdout.write(`${packageVersion()}\n`);
    return 0;
  }
  const layout = helpLayout(context);
  const commands = commandsOf(context.modules);
  if (first === undefined || HELP.has(first)) {
    (first === undefined ? context.stderr : context.stdout).write(formatOverview(visibleIn(commands), layout));
    return first === undefined ? 2 : 0;
  }
  const entry = findCommand(commands, argv);
  if (entry !== undefined) return runCommand(entry, argv.slice(entry.path.split(' ').length), context);
  const helpIndex = argv.findIndex((word) => HELP.has(word));
  const group = argv.slice(0, helpIndex === -1 ? undefined : helpIndex).join(' ');
  if (commands.some((other) => other.path.startsWith(`${group} `))) {
    (helpIndex === -1 ? context.stderr : context.stdout).write(formatGroup(visibleIn(commands), group, layout));
    return helpIndex === -1 ? 2 : 0;
  }
  throw unknownCommand(commands, OTHER_WORDS, argv);
}

/** Takes `--home <dir>` out of a command line: every command has it. The last one counts. */
function takeHome(words: readonly string[]): { readonly argv: readonly string[]; readonly home: string | undefined } {
  const argv: string[] = [];
  let home: string | undefined;
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? '';
    if (word === '--') return { argv: [...argv, ...words.slice(at)], home };
    if (word === '--home') home = words[++at] ?? '';
    else if (word.startsWith('--home=')) home = word.slice('--home='.length);
    else argv.push(word);
    if (home === '') throw new UsageError('option --home needs a folder');
  }
  return { argv, home };
}

const WIDEST = 100;
const NARROWEST = 60;

function helpLayout({ colour, stdout }: CliContext): HelpLayout {
  const width = Math.max(NARROWEST, Math.min(WIDEST, stdout.columns ?? WIDEST));
  return { paint: createPaint(colour.stdout), width, coloured: colour.stdout };
}

async function runCommand(entry: CommandEntry, args: readonly string[], context: CliContext): Promise<number> {
  const end = args.indexOf('--');
  if (args.slice(0, end === -1 ? undefined : end).some((arg) => HELP.has(arg))) {
    context.stdout.write(await formatCommandHelp(entry, helpLayout(context)));
    return 0;
  }
  const command = await entry.load();
  let own = context;
  try {
    const line = readCommandLine(args, entry.path, command);
    own = await withConfig(context, line.options);
    return await command.run(own, line);
  } catch (error) {
    if (error instanceof TypeError) await refuseOtherVersion(own);
    if (!(error instanceof UsageError)) throw error;
    throw new UsageError(error.message, ...error.hints, `to list the options: hookwright ${entry.path} --help`);
  }
}

/** The rows that a gateway sends are not checked here, because they are many: one of another version may cause any failure. */
async function refuseOtherVersion(context: CliContext): Promise<void> {
  const { OtherVersionError, tryCallGateway } = await import('./gateway/ask-gateway.ts');
  try {
    await tryCallGateway(context, 'status', {});
  } catch (error) {
    if (error instanceof OtherVersionError) throw error;
  }
}

/** Inherited instead of copied, because one property is slow to compute. Programs that this one starts have the same home. */
const inHome = (context: CliContext, home: string): CliContext =>
  Object.assign(Object.create(context), { home, env: { ...context.env, HOOKWRIGHT_HOME: home } });

/** `--home` and `--config` decide which home, configuration, store and `.env` are used. */
async function withConfig(context: CliContext, options: CommandLine['options']): Promise<CliContext> {
  const configs = options.get('--config') ?? [];
  const allowed = options.get('--root')?.map((folder) => resolve(context.cwd, folder));
  const by = options.get('--by')?.at(-1);
  const home = await configuredHome(context, configs);
  const projectEnv = projectEnvPath(nodeFiles, { cwd: context.cwd, home }, configs);
  const own: CliContext = home === context.home ? Object.create(context) : inHome(context, home);
  return Object.assign(
    own,
    configs.length > 0 && { configs },
    allowed && { allowed },
    projectEnv && { projectEnv },
    by && { by },
  );
}

/** `home` of the configuration, unless the environment names another. */
async function configuredHome({ env, cwd, home }: CliContext, named: readonly string[]): Promise<string> {
  if (env.HOOKWRIGHT_HOME) return home;
  const [here] = usualConfigs({ cwd, home });
  const configs = named.length > 0 ? named : [here];
  const texts = configs.map((path) => readText(nodeFiles, resolve(cwd, path)));
  // A configuration without the word needs no parser. A glob must be expanded.
  if (texts.every((read, at) => (read.ok ? !/\bhome\b/.test(read.text) : !isGlob(configs[at] ?? '')))) return home;
  const { readHome } = await import('../compiler/source/read-home.ts');
  return readHome({ files: nodeFiles, cwd, userHome: dirname(homeOf({ HOME: env.HOME }, cwd)), configs }) ?? home;
}

function printFailure(error: unknown, context: CliContext): number {
  const paint = createPaint(context.colour.stderr);
  const label = paint('red', 'error:');
  if (error instanceof CliError) {
    // Each is one line, whatever name or value of a file is in it.
    const lines = [error.message, ...error.hints].map(visible);
    context.stderr.write(`${label} ${lines.join('\n  ')}\n`);
    return error.exitCode;
  }
  if (isSystemError(error)) {
    context.stderr.write(`${label} ${visible(error.message)}\n`);
    return 1;
  }
  const stack = error instanceof Error ? (error.stack ?? error.message) : String(error);
  context.stderr.write(`${label} internal error in hookwright, please report it\n${stack}\n`);
  return 1;
}

/** The layout of a help text: its colours and its width in columns. */
export interface HelpLayout {
  readonly paint: Paint;
  readonly width: number;
  readonly coloured: boolean;
}

const INDENT = '  ';

type Entries = readonly Omit<ListedCommand<never>, 'load' | 'help'>[];

/** `hookwright --help` on one screen: a line for each command or noun. @param entries in their order */
export function formatOverview(entries: Entries, layout: HelpLayout): string {
  const rows = new Map<string, string>();
  for (const { path, summary, title } of entries) {
    const [noun = '', verb] = path.split(' ');
    const before = rows.get(noun);
    if (title === null) rows.set(path, summary);
    else if (before?.endsWith(` ${verb}`)) continue;
    else rows.set(noun, before === undefined ? `${title}: ${verb}` : `${before}, ${verb}`);
  }
  return [
    'Signed webhooks in; agent prompts, messages and jobs out.',
    '',
    'Usage: hookwright <command> [options]',
    '',
    ...formatRows([...rows], layout),
    '',
    'More help: hookwright gateway --help, hookwright gateway start --help',
    'For all commands: --home <dir>, the folder of the store and its gateway',
    '',
  ].join('\n');
}

/** `hookwright webhook --help`. */
export const formatGroup = (entries: Entries, group: string, layout: HelpLayout): string =>
  [
    `Usage: hookwright ${group} <command> [options]`,
    '',
    ...formatRows(
      entries.filter(({ path }) => path.startsWith(`${group} `)).map(({ path, summary }) => [path, summary] as const),
      layout,
    ),
    '',
    `Options and examples: hookwright ${group} <command> --help`,
    '',
  ].join('\n');

function formatRows(rows: readonly (readonly [name: string, text: string])[], layout: HelpLayout): string[] {
  const { paint } = layout;
  const width = Math.max(...rows.map(([name]) => name.length));
  return rows.flatMap(([name, text]) =>
    wrapBeside(`${INDENT}${paint('bold', name.padEnd(width))}  `, text, layout.width),
  );
}

/** `hookwright lint --help`. */
export async function formatCommandHelp(entry: ListedCommand<never>, layout: HelpLayout): Promise<string> {
  const { usage, options, details, examples } = await describe(entry, layout.coloured);
  const sections: string[][] = [
    wrapWords(`${entry.summary}.`, layout.width),
    wrapBeside('Usage: ', `${usage}${options.length > 0 ? ' [options]' : ''}`, layout.width),
  ];
  if (options.length > 0) sections.push(['Options:', ...formatRows(options, layout)]);
  if (details !== '') sections.push([details]);
  const lines = examples.flatMap(([what, line]) => [
    ...wrapBeside(`${INDENT}# `, what, layout.width),
    INDENT + layout.paint('cyan', line),
  ]);
  if (lines.length > 0) sections.push(['Examples:', ...lines]);
  return `${sections.map((section) => section.join('\n')).join('\n\n')}\n`;
}
