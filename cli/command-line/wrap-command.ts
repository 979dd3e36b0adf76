/** Breaks a command line of a help text, so that it can still be copied into a shell. */

/** Words as a shell splits them; quotes stay. */
const WORD = /(?:'[^']*'|"[^"]*"|[^\s'"])+/g;
/** A line may end before these: options, settings (`name=value`), pipes and the next command. */
const BREAK = /^(?:-|\||&&|[a-z]\w*=)/;
const INDENT = '  ';

/** @param width columns of the terminal; an option with a longer value has a line of its own */
export function wrapCommand(command: string, width: number): string[] {
  if (command.length <= width) return [command];
  const lines: string[] = [];
  for (const part of partsOf(command)) {
    const line = lines.at(-1);
    // The backslash and the space before it take two columns.
    if (line !== undefined && line.length + 1 + part.length + 2 <= width) lines[lines.length - 1] = `${line} ${part}`;
    else lines.push(line === undefined ? part : INDENT + part);
  }
  return lines.map((line, at) => (at === lines.length - 1 ? line : `${line} \\`));
}

function partsOf(command: string): string[] {
  const parts: string[] = [];
  for (const word of command.match(WORD) ?? []) {
    const last = parts.length - 1;
    if (last < 0 || BREAK.test(word)) parts.push(word);
    else parts[last] = `${parts[last]} ${word}`;
  }
  return parts;
}
