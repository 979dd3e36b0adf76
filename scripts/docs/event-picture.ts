/** Draws README's picture, the way of an event, for light and for dark pages. */
import type { Palette } from './palette.ts';
import { FONT } from './palette.ts';

/** What it shows, as text for where pictures are not shown. */
export const EVENT_IN_WORDS =
  'A sender posts an event. hookwright verifies the signature, filters, renders the prompt and stores it; then the sender is answered 202. ' +
  'Afterwards the agent runs, and its answer is delivered to a chat, a comment or a mailbox, with retries.';

interface Box {
  readonly x: number;
  readonly y: number;
  readonly title: string;
  readonly below: string;
}

const WIDTH = 112;
const HEIGHT = 52;
const STEPS: readonly Box[] = [
  { x: 200, y: 62, title: 'verify', below: 'signature' },
  { x: 332, y: 62, title: 'filter', below: 'events, fields' },
  { x: 464, y: 62, title: 'render', below: 'prompt' },
  { x: 596, y: 62, title: 'store', below: 'one commit' },
  { x: 464, y: 212, title: 'run', below: 'your agent' },
  { x: 332, y: 212, title: 'deliver', below: 'with retries' },
];
const ENDS: readonly Box[] = [
  { x: 4, y: 62, title: 'sender', below: 'e.g. GitHub' },
  { x: 4, y: 212, title: 'target', below: 'chat, comment' },
];
const ARROWS = [
  'M120 88H196',
  'M312 88H328',
  'M444 88H460',
  'M576 88H592',
  'M676 114V238H580',
  'M464 238H448',
  'M332 238H124',
];
const NOTES: readonly (readonly [x: number, y: number, text: string])[] = [
  [256, 134, 'else 401'],
  [388, 134, 'else 200 ignored'],
  [440, 176, '202 accepted, once it is stored'],
  [454, 292, 'after a crash, it goes on where it was'],
];

export function drawEvent(palette: Palette): string {
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 724 316" font-family="${FONT}" role="img" aria-labelledby="title">`,
    `<title id="title">${EVENT_IN_WORDS}</title>`,
    `<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto"><path d="M0 0L8 4L0 8z" fill="${palette.dim}"/></marker></defs>`,
    `<rect x="180" y="10" width="542" height="296" rx="12" fill="${palette.panel}" stroke="${palette.line}"/>`,
    `<text x="200" y="40" font-size="17" font-weight="600" fill="${palette.text}">hookwright</text>`,
    `<g fill="none" stroke="${palette.dim}" stroke-width="1.6" marker-end="url(#tip)">`,
    ...ARROWS.map((path) => `<path d="${path}"/>`),
    `<path d="M632 114V156H60V118" stroke-dasharray="5 4"/>`,
    '</g>',
    ...STEPS.map((box) => drawBox(box, palette, palette.accent)),
    ...ENDS.map((box) => drawBox(box, palette, palette.line)),
    `<g font-size="13" fill="${palette.dim}" text-anchor="middle">`,
    ...NOTES.map(([x, y, text]) => `<text x="${x}" y="${y}">${text}</text>`),
    '</g>',
    '</svg>\n',
  ].join('\n');
}

function drawBox({ x, y, title, below }: Box, { box, text, dim }: Palette, edge: string): string {
  const middle = x + WIDTH / 2;
  return [
    `<rect x="${x}" y="${y}" width="${WIDTH}" height="${HEIGHT}" rx="8" fill="${box}" stroke="${edge}" stroke-width="1.5"/>`,
    `<text x="${middle}" y="${y + 22}" font-size="16" font-weight="600" text-anchor="middle" fill="${text}">${title}</text>`,
    `<text x="${middle}" y="${y + 41}" font-size="13" text-anchor="middle" fill="${dim}">${below}</text>`,
  ].join('\n');
}
