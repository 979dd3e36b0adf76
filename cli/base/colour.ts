/** Colours for the terminal, and when to leave them out. */

const STYLES = {
  bold: [1, 22],
  dim: [2, 22],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  cyan: [36, 39],
} as const;

export type Style = keyof typeof STYLES;
export type Paint = (style: Style, text: string) => string;

/** A painter for one stream; with `on` false it leaves the text alone. */
export function createPaint(on: boolean): Paint {
  if (!on) return (_style, text) => text;
  return (style, text) => `\x1b[${STYLES[style][0]}m${text}\x1b[${STYLES[style][1]}m`;
}

/** NO_COLOR wins, then FORCE_COLOR; else colours are for terminals that can show them. */
export function wantsColour(env: NodeJS.ProcessEnv, isTTY: boolean | undefined): boolean {
  if (env.NO_COLOR !== undefined && env.NO_COLOR !== '') return false;
  if (env.FORCE_COLOR !== undefined && env.FORCE_COLOR !== '') return env.FORCE_COLOR !== '0';
  return isTTY === true && env.TERM !== 'dumb';
}
