/** Terminal colours. */
import { styleText } from 'node:util';

export type Style = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'blue' | 'cyan';
export type Paint = (style: Style, text: string) => string;

/** The caller decides whether its stream supports colours; `styleText` would look at `process.stdout`. */
const ALWAYS = { validateStream: false };

/** Creates the colour function for one stream; when `on` is false, it returns the text unchanged. */
export const createPaint = (on: boolean): Paint =>
  on ? (style, text) => styleText(style, text, ALWAYS) : (_style, text) => text;
