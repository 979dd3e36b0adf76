/** `hookwright completion`: prints a script with which a shell completes hookwright's commands. */
import { argument, command } from '../../../cli/command-line/command.ts';
import { parseChoice } from '../../../cli/command-line/values.ts';
import type { CommandEntry } from '../../../cli/commands.ts';
import { commandsOf } from '../../../cli/commands.ts';

/** The shells with a completion script. A script contains the commands and options of this version. */
export const SHELLS = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof SHELLS)[number];

/** @param commands the commands that help lists */
export async function completionScript(shell: Shell, commands: readonly CommandEntry[]): Promise<string> {
  return SCRIPTS[shell](await wordsByPath(commands));
}

type WordsByPath = readonly (readonly [path: string, words: readonly string[]])[];

/** The words that may follow the start of a command line, which is empty, a noun or a command. */
async function wordsByPath(commands: readonly CommandEntry[]): Promise<WordsByPath> {
  const words = new Map<string, Set<string>>();
  const add = (path: readonly string[], added: readonly string[]): void => {
    const key = path.join(' ');
    words.set(key, new Set([...(words.get(key) ?? []), ...added]));
  };
  for (const { path, load } of commands) {
    const parts = path.split(' ');
    for (const [at, part] of parts.entries()) add(parts.slice(0, at), [part]);
    const { options, args } = await load();
    const choices = args.flatMap(({ name }) => (name.includes('|') ? name.split('|') : []));
    add(parts, [...choices, ...options.map(({ names }) => names.at(-1) ?? '')]);
  }
  return [...words].map(([path, each]) => [path, [...each]]);
}

/** Written for bash 3, which has no maps. Without a matching word it completes files. */
const bash = (words: WordsByPath): string => `# bash completion of hookwright
_hookwright_words() {
  case "$1" in
${words.map(([path, each]) => `    '${path}') echo '${each.join(' ')}' ;;`).join('\n')}
  esac
}
_hookwright() {
  local at='' word
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    [ -n "$(_hookwright_words "\${at:+$at }$word")" ] && at="\${at:+$at }$word"
  done
  COMPREPLY=($(compgen -W "$(_hookwright_words "$at")" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _hookwright hookwright
`;

const zsh = (words: WordsByPath): string => `#compdef hookwright
# zsh completion of hookwright
autoload -U +X bashcompinit && bashcompinit
${bash(words)}`;

const fish = (words: WordsByPath): string => `# fish completion of hookwright
function __hookwright_words
    switch "$argv"
${words.map(([path, each]) => `        case '${path}'\n            string split ' ' '${each.join(' ')}'`).join('\n')}
    end
end
function __hookwright_complete
    set -l at
    for word in (commandline -opc)[2..-1]
        count (__hookwright_words $at $word) >/dev/null; and set -a at $word
    end
    __hookwright_words $at
end
complete -c hookwright -a '(__hookwright_complete)'
`;

const SCRIPTS: Readonly<Record<Shell, (words: WordsByPath) => string>> = { bash, zsh, fish };

export const completionCommand = command({
  args: { shell: argument(SHELLS.join('|')) },
  async run(context, given) {
    const shell = parseChoice(given.shell, 'completion', SHELLS);
    context.stdout.write(await completionScript(shell, commandsOf(context.modules)));
  },
});
