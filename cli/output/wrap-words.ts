/** Breaks a text at its spaces into lines that fit a width. */
import { stripVTControlCharacters } from 'node:util';
import { displayWidth } from '../../base/display-width.ts';

/** @param width columns of the terminal; a word that is wider has a line of its own. Colours take no columns. */
export function wrapWords(text: string, width: number): string[] {
  const lines: string[] = [''];
  for (const word of text.trimEnd().split(' ')) {
    const line = lines.at(-1) ?? '';
    if (line !== '' && columnsOf(line) + 1 + columnsOf(word) > width) lines.push(word);
    else lines[lines.length - 1] = line === '' ? word : `${line} ${word}`;
  }
  return lines;
}

/**
 * A label and the text beside it: the lines after the first are indented as far as the text of the first is.
 * @param width columns of the terminal; without it, the text stays on one line
 */
export function wrapBeside(label: string, text: string, width: number | undefined): string[] {
  if (width === undefined) return [label + text];
  const indent = columnsOf(label);
  return wrapWords(text, width - indent).map((line, at) => (at === 0 ? label : ' '.repeat(indent)) + line);
}

const columnsOf = (text: string): number => displayWidth(stripVTControlCharacters(text));
