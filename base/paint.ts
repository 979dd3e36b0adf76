/** Colours of texts for a terminal. */
import { styleText } from 'node:util';

export type Style = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'blue' | 'cyan';
export type Paint = (style: Style, text: string) => string;

/** Whether a stream takes colours is the caller's to say, not that of `process.stdout`. */
const ALWAYS = { validateStream: false };

/** A painter for one stream; with `on` false it leaves the text alone. */
export const createPaint = (on: boolean): Paint =>
  on ? (style, text) => styleText(style, text, ALWAYS) : (_style, text) => text;
