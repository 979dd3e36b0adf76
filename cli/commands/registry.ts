/** The commands of the core and of the modules. A command's file is loaded only when it runs. */
import type { CommandEntry } from '../base/command.ts';
import type { CliContext } from '../base/context.ts';
import { COMMAND_FILES } from './built/command-files.ts';

export type ListedCommand = CommandEntry<CliContext>;

const rankOf = ({ rank }: ListedCommand): number => rank ?? Number.POSITIVE_INFINITY;

/** In the order of `hookwright --help`; those that it does not show come last. */
export const commandsOf = (modules: CliContext['modules']): readonly ListedCommand[] =>
  [...COMMAND_FILES, ...modules.flatMap(({ commands }) => commands)].sort((a, b) => rankOf(a) - rankOf(b));

export const visibleIn = (commands: readonly ListedCommand[]): readonly ListedCommand[] =>
  commands.filter(({ rank }) => rank !== null);

/** The command whose words begin the command line; the longest one if there are several. */
export function findCommand(commands: readonly ListedCommand[], words: readonly string[]): ListedCommand | undefined {
  const opens = (entry: ListedCommand): boolean => entry.path.split(' ').every((word, at) => words[at] === word);
  return commands.filter(opens).sort((a, b) => b.path.length - a.path.length)[0];
}
