/** Splits the code of a shell into simple commands, as far as rules need it: words without quotes, redirections and comments. */

interface SimpleCommand {
  readonly words: readonly string[];
  /** It is `export`, and is certainly executed before the following commands. */
  readonly isExport: boolean;
}

const TOKEN =
  /#[^\n]*|&&|\|\||[;|&\n()`]|\d*[<>][<>&|]*|(?:\\[\s\S]|'[^']*'|"(?:\\[\s\S]|[^"\\])*"|[^\s;|&()`<>\\'"])+|['"\\]/g;
const SEPARATOR = /^(?:&&|\|\||[;|&\n()`])$/;
const REDIRECTION = /^\d*[<>]/;
/** Keywords before a command. */
const KEYWORD = /^(?:if|then|elif|else|do|while|until|!|\{)$/;
/** In code with these, commands may not be executed in the order of the text. */
const STRUCTURE = /[(){}`]|<<|(?:^|[\s;&|])(?:if|for|while|until|case|select|eval|function|set \+|trap)\b/;

export function simpleCommands(code: string): readonly SimpleCommand[] {
  const text = code.replace(/\\\n/g, ' ');
  const commands: { words: string[]; before: string; after: string }[] = [{ words: [], before: ';', after: ';' }];
  let isTarget = false;
  for (const [token] of text.matchAll(TOKEN)) {
    const last = commands.at(-1);
    if (last === undefined || token.startsWith('#')) continue;
    if (SEPARATOR.test(token)) {
      last.after = token;
      commands.push({ words: [], before: token, after: ';' });
    } else if (isTarget) isTarget = false;
    else if (REDIRECTION.test(token)) isTarget = true;
    else if (last.words.length > 0 || !KEYWORD.test(token)) last.words.push(unquote(token));
  }
  const isStraight = !STRUCTURE.test(text);
  // In double quotes, `$(…)` is also executed.
  const nested = [...text.matchAll(/"(?:\\[\s\S]|[^"\\])*"/g)].flatMap(([quoted]) => substitutions(quoted));
  return [
    ...commands.map(({ words, before, after }) => ({
      words,
      isExport: isStraight && words[0] === 'export' && isExecuted(before, after, text),
    })),
    ...nested.flatMap(simpleCommands),
  ].filter(({ words }) => words.length > 0);
}

/** Commands that may change variables, the folder or execution, and are not analysed. */
const UNFOLLOWED =
  /^(?:declare|typeset|readonly|local|eval|source|for|select|read|mapfile|readarray|getopts|trap|alias|set|setenv|let|function|popd|builtin)$/;
const FOLLOWED_FIRST = /^(?:cd|pushd|export|unset)$/;
/** Whole commands that are not analysed: `. file`, `export -n`, `export $names`, `exec -c`, `printf -v`, `NAME+=x`, `NAME[0]=x`. */
const UNFOLLOWED_COMMAND =
  /^(?:\w+=\S* |command )*\. |^(?:export|unset) (?:.* )?(?:-|[^\s=]*[$*?])|\b(?:exec -\w*c|printf -v)|^\w+(?:\[[^\s=]*\]\+?|\+)=/;
const PLAIN_SET = /^set -(?:[eux]+|[eux]*o pipefail)$/;
/** Text that is not analysed: substitutions, `${…:+…}`, functions and loops. */
const UNFOLLOWED_TEXT = /\$\(|`|\$\{(?!\w+\})|\(\s*\)|(?:^|[\s;&|])(?:while|until)\s/;

/** Whether the code may change variables or the folder in ways that are not analysed. */
export const isDoubtful = (code: string): boolean =>
  UNFOLLOWED_TEXT.test(code) ||
  simpleCommands(code).some(({ words }) => {
    const command = words.join(' ');
    return (
      UNFOLLOWED_COMMAND.test(`${command} `) ||
      words.slice(1).some((word) => FOLLOWED_FIRST.test(word)) ||
      (!PLAIN_SET.test(command) && words.some((word) => UNFOLLOWED.test(word)))
    );
  });

/** A command after `&&` may be skipped, unless the rest is then skipped too. */
const isExecuted = (before: string, after: string, text: string): boolean =>
  !/[^;\n]/.test(before)
    ? /^(?:;|\n|&&)$/.test(after)
    : before === '&&' && after === '&&' && !/[;\n|]|(?<!&)&(?!&)/.test(text);

const substitutions = (quoted: string): readonly string[] =>
  [...quoted.matchAll(/\$\(([^"]*)|`([^`]*)`/g)].map(([, one, other]) => one ?? other ?? '');

const unquote = (word: string): string =>
  word.replace(
    /\\([\s\S])|'([^']*)'|"((?:\\[\s\S]|[^"\\])*)"/g,
    (_, escaped: string | undefined, single: string | undefined, double: string | undefined) =>
      escaped ?? single ?? (double ?? '').replace(/\\(["\\$`])/g, '$1'),
  );
