/** Prints Markdown for the generated pages. */

export const code = (text: string): string => `\`${text}\``;

/** Prints a table; `|` and line breaks in cells are escaped. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|').replaceAll('\n', ' ')).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

/** Escapes angle brackets around names of values, which Markdown reads as HTML. Code is unchanged. */
export const escapeText = (text: string): string =>
  text
    .split(/(`[^`]*`)/)
    .map((part, at) => (at % 2 === 1 ? part : part.replaceAll('<', '&lt;').replaceAll('*', '\\*')))
    .join('');
