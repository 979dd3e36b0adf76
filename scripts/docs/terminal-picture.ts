/** Draws what a terminal showed, colours included, for light and for dark pages. */
import type { Palette } from './palette.ts';

const MONO = "ui-monospace, SFMono-Regular, Menlo, Consolas, 'Liberation Mono', monospace";
const COLUMNS = 84;
/** Measures of a character at this size, in the units of the picture. */
const [SIZE, ADVANCE, LINE] = [14, 8.43, 20];
const [LEFT, TOP] = [18, 52];

interface Run {
  readonly text: string;
  readonly style: string;
}

/** @param session lines with SGR sequences; those that begin with `$ ` were typed. Longer ones are wrapped as a terminal does */
export function drawTerminal(session: string, palette: Palette): string {
  const rows = session.trimEnd().split('\n').flatMap(wrap);
  const [width, height] = [Math.round(2 * LEFT + COLUMNS * ADVANCE), TOP + rows.length * LINE];
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-labelledby="title">`,
    `<title id="title">A session in a terminal: a mistake is found and repaired, a gateway started, and a test event accepted.</title>`,
    `<style>text{font:${SIZE}px ${MONO};fill:${palette.text};white-space:pre}.b{font-weight:600}.d{fill:${palette.dim}}.red{fill:${palette.red}}.green{fill:${palette.green}}.yellow{fill:${palette.yellow}}.blue{fill:${palette.accent}}</style>`,
    `<rect x=".5" y=".5" width="${width - 1}" height="${height - 1}" rx="10" fill="${palette.panel}" stroke="${palette.line}"/>`,
    ...[0, 1, 2].map((at) => `<circle cx="${24 + 18 * at}" cy="22" r="5.5" fill="${palette.line}"/>`),
    ...rows.map(
      (row, at) => `<text x="${LEFT}" y="${TOP + at * LINE}" xml:space="preserve">${row.map(drawRun).join('')}</text>`,
    ),
    '</svg>\n',
  ].join('\n');
}

const drawRun = ({ text, style }: Run): string =>
  style === '' ? escapeXml(text) : `<tspan class="${style}">${escapeXml(text)}</tspan>`;

const escapeXml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/** The rows that a line takes, each as runs of one style. */
function wrap(line: string): readonly (readonly Run[])[] {
  const rows: Run[][] = [[]];
  let used = 0;
  for (const run of runsOf(line)) {
    for (let rest = run.text; rest !== ''; ) {
      if (used === COLUMNS) used = rows.push([]) * 0;
      const part = rest.slice(0, COLUMNS - used);
      rows.at(-1)?.push({ text: part, style: run.style });
      used += part.length;
      rest = rest.slice(part.length);
    }
  }
  return rows;
}

const CLASSES: Readonly<Record<string, string>> = { 31: 'red', 32: 'green', 33: 'yellow', 34: 'blue', 36: 'blue' };

function runsOf(line: string): readonly Run[] {
  if (line.startsWith('$ '))
    return [
      { text: '$ ', style: 'd' },
      { text: line.slice(2), style: 'b' },
    ];
  const styles = new Set<string>();
  return line.split(/(\u001b\[\d*m)/).flatMap((part) => {
    const code = /^\u001b\[(\d*)m$/.exec(part)?.[1];
    if (code === undefined) return part === '' ? [] : [{ text: part, style: [...styles].join(' ') }];
    change(styles, code);
    return [];
  });
}

function change(styles: Set<string>, code: string): void {
  if (code === '1') styles.add('b');
  else if (code === '2') styles.add('d');
  else if (code === '22') for (const style of ['b', 'd']) styles.delete(style);
  else if (code === '39') for (const style of Object.values(CLASSES)) styles.delete(style);
  else if (code === '0' || code === '') styles.clear();
  else styles.add(CLASSES[code] ?? '');
}
