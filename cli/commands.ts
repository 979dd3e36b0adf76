/**
 * Finds the command for the words of a command line, and suggests one for unknown words.
 */
import { suggest } from '../compiler/text/suggest.ts';
import type { ListedCommand } from './base/command.ts';
import type { CliContext } from './base/context.ts';
import { UsageError } from './base/errors.ts';
import { COMMAND_FILES } from './built/command-files.ts';

/** The commands of the core and of the modules. A command's file is loaded only when it runs. */
export type CommandEntry = ListedCommand<CliContext>;

const rankOf = ({ rank }: CommandEntry): number => rank ?? Number.POSITIVE_INFINITY;

/** In the order of `hookwright --help`; those that it does not show come last. */
export const commandsOf = (modules: CliContext['modules']): readonly CommandEntry[] =>
  [...COMMAND_FILES, ...modules.flatMap(({ commands = [] }) => commands)].sort((a, b) => rankOf(a) - rankOf(b));

export const visibleIn = (commands: readonly CommandEntry[]): readonly CommandEntry[] =>
  commands.filter(({ rank }) => rank !== null);

/** The command with the longest path that the command line starts with. */
export function findCommand(commands: readonly CommandEntry[], words: readonly string[]): CommandEntry | undefined {
  const opens = (entry: CommandEntry): boolean => entry.path.split(' ').every((word, at) => words[at] === word);
  return commands.filter(opens).sort((a, b) => b.path.length - a.path.length)[0];
}

/** Command names of other programs, with the command to suggest. */
type OtherWords = Readonly<Record<string, string>>;

/** @param argv starts with words that are not a command */
export function unknownCommand(
  commands: readonly Pick<ListedCommand<never>, 'path'>[],
  otherWords: OtherWords,
  argv: readonly string[],
): UsageError {
  const [first = '', second] = argv;
  if (first.startsWith('-')) {
    return new UsageError(
      `option ${first} is before the command`,
      'write the command first: hookwright <command> [options]',
    );
  }
  const typed = second === undefined || second.startsWith('-') ? first : `${first} ${second}`;
  const paths = commands.map(({ path }) => path);
  const noun = typed.replace(/ (?:list|ls)$/, '');
  const close = Object.hasOwn(otherWords, noun) ? otherWords[noun] : closeCommand(paths, typed, first);
  const next = close === undefined ? 'to list the commands: hookwright --help' : `did you mean: hookwright ${close}`;
  return new UsageError(`unknown command "${typed}"`, next);
}

/** The closest command; for the name of a group, its `list` command. */
function closeCommand(paths: readonly string[], typed: string, first: string): string | undefined {
  const groups = [...new Set(paths.flatMap((path) => (path.includes(' ') ? [path.split(' ')[0] ?? ''] : [])))];
  const group = groups.find((name) => name === first.replace(/s$/, '') || name === `${first}s`);
  const rest = typed === first ? '' : typed.slice(first.length);
  const renamed = group === undefined ? typed : `${group}${rest}`;
  if (group !== undefined && rest === '' && paths.includes(`${group} list`)) return `${group} list`;
  return paths.includes(renamed) ? renamed : suggest(renamed, [...paths, ...groups])[0];
}
