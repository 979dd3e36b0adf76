/** A command in the list: enough to find it and print its line without loading its code. */
import type { CliContext } from '../base/context.ts';
import type { ListedCommand } from '../base/module.ts';

export type CommandEntry = ListedCommand<CliContext>;

/** A noun with several commands. */
export interface CommandGroup {
  readonly noun: string;
  /** Its summary in `hookwright --help`. */
  readonly title: string;
  /** In the order of help. */
  readonly verbs: readonly string[];
}

/** The command whose words begin the command line; the longest one if there are several. */
export function findCommand(commands: readonly CommandEntry[], words: readonly string[]): CommandEntry | undefined {
  const opens = (entry: CommandEntry): boolean => entry.path.split(' ').every((word, at) => words[at] === word);
  return commands.filter(opens).sort((a, b) => b.path.length - a.path.length)[0];
}
