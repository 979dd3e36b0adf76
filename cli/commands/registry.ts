/** The commands of the core and of the modules. A command's file is loaded only when it runs. */
import type { ListedCommand } from '../base/command.ts';
import type { CliContext } from '../base/context.ts';
import { COMMAND_FILES } from './built/command-files.ts';

export type CommandEntry = ListedCommand<CliContext>;

const rankOf = ({ rank }: CommandEntry): number => rank ?? Number.POSITIVE_INFINITY;

/** In the order of `hookwright --help`; those that it does not show come last. */
export const commandsOf = (modules: CliContext['modules']): readonly CommandEntry[] =>
  [...COMMAND_FILES, ...modules.flatMap(({ commands = [] }) => commands)].sort((a, b) => rankOf(a) - rankOf(b));

export const visibleIn = (commands: readonly CommandEntry[]): readonly CommandEntry[] =>
  commands.filter(({ rank }) => rank !== null);

/** The command whose words begin the command line; the longest one if there are several. */
export function findCommand(commands: readonly CommandEntry[], words: readonly string[]): CommandEntry | undefined {
  const opens = (entry: CommandEntry): boolean => entry.path.split(' ').every((word, at) => words[at] === word);
  return commands.filter(opens).sort((a, b) => b.path.length - a.path.length)[0];
}
