/** The message for words that are not a command, with the closest command if there is one. */
import { suggest } from '../../compiler/text/suggest.ts';
import type { ListedCommand } from '../base/command.ts';
import { UsageError } from '../base/errors.ts';

/** Words of other programs, with the command that is meant. */
type OtherWords = Readonly<Record<string, string>>;

/** @param argv begins with words that are not a command */
export function unknownCommand(
  commands: readonly Pick<ListedCommand<never>, 'path'>[],
  otherWords: OtherWords,
  argv: readonly string[],
): UsageError {
  const [first = '', second] = argv;
  if (first.startsWith('-')) {
    return new UsageError(
      `option ${first} comes before the command`,
      'write the command first: hookwright <command> [options]',
    );
  }
  const typed = second === undefined || second.startsWith('-') ? first : `${first} ${second}`;
  const paths = commands.map(({ path }) => path);
  const noun = typed.replace(/ (?:list|ls)$/, '');
  const close = Object.hasOwn(otherWords, noun) ? otherWords[noun] : closeCommand(paths, typed, first);
  const next = close === undefined ? 'hookwright --help lists the commands' : `did you mean: hookwright ${close}`;
  return new UsageError(`unknown command "${typed}"`, next);
}

/** The intended command; for the name of a group, the command that lists it. */
function closeCommand(paths: readonly string[], typed: string, first: string): string | undefined {
  const groups = [...new Set(paths.flatMap((path) => (path.includes(' ') ? [path.split(' ')[0] ?? ''] : [])))];
  const group = groups.find((name) => name === first.replace(/s$/, '') || name === `${first}s`);
  const rest = typed === first ? '' : typed.slice(first.length);
  const renamed = group === undefined ? typed : `${group}${rest}`;
  if (group !== undefined && rest === '' && paths.includes(`${group} list`)) return `${group} list`;
  return paths.includes(renamed) ? renamed : suggest(renamed, [...paths, ...groups])[0];
}
