/** Colours of the pictures, for light and for dark pages. */

export interface Palette {
  readonly text: string;
  readonly dim: string;
  readonly line: string;
  readonly panel: string;
  readonly box: string;
  readonly accent: string;
  readonly red: string;
  readonly green: string;
  readonly yellow: string;
}

export const FONT = "ui-sans-serif, system-ui, 'Segoe UI', Helvetica, Arial, sans-serif";

export const PALETTES = {
  light: {
    text: '#1f2328',
    dim: '#59636e',
    line: '#d1d9e0',
    panel: '#f6f8fa',
    box: '#ffffff',
    accent: '#0969da',
    red: '#cf222e',
    green: '#1a7f37',
    yellow: '#9a6700',
  },
  dark: {
    text: '#f0f6fc',
    dim: '#9198a1',
    line: '#3d444d',
    panel: '#151b23',
    box: '#0d1117',
    accent: '#4493f8',
    red: '#f85149',
    green: '#3fb950',
    yellow: '#d29922',
  },
} as const satisfies Readonly<Record<string, Palette>>;
