/** Splits the code of a shell into simple commands, as far as rules need it: words without quotes, redirections and comments. */

interface SimpleCommand {
  readonly words: readonly string[];
  /** It is `export`, and is surely executed before the commands that follow. */
  readonly isExport: boolean;
}

const TOKEN =
  /#[^\n]*|&&|\|\||[;|&\n()`]|\d*[<>][<>&|]*|(?:\\[\s\S]|'[^']*'|"(?:\\[\s\S]|[^"\\])*"|[^\s;|&()`<>\\'"])+|['"\\]/g;
const SEPARATOR = /^(?:&&|\|\||[;|&\n()`])$/;
const REDIRECTION = /^\d*[<>]/;
/** What comes before a command, and is none. */
const KEYWORD = /^(?:if|then|elif|else|do|while|until|!|\{)$/;
/** Where these are, the order of the text is not that of execution. */
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
  // In double quotes, `$(…)` is executed as well.
  const nested = [...text.matchAll(/"(?:\\[\s\S]|[^"\\])*"/g)].flatMap(([quoted]) => substitutions(quoted));
  return [
    ...commands.map(({ words, before, after }) => ({
      words,
      isExport: isStraight && words[0] === 'export' && isExecuted(before, after, text),
    })),
    ...nested.flatMap(simpleCommands),
  ].filter(({ words }) => words.length > 0);
}

/** After `&&` it may be skipped, unless what follows is skipped as well. */
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
