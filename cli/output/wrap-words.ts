/** Breaks a text at its spaces into lines that fit a width. */
import { displayWidth } from '../../base/display-width.ts';

/** @param width columns of the terminal; a word that is wider has a line of its own */
export function wrapWords(text: string, width: number): string[] {
  const lines: string[] = [''];
  for (const word of text.split(' ')) {
    const line = lines.at(-1) ?? '';
    if (line !== '' && displayWidth(line) + 1 + displayWidth(word) > width) lines.push(word);
    else lines[lines.length - 1] = line === '' ? word : `${line} ${word}`;
  }
  return lines;
}
