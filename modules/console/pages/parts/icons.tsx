/**
 * Icons of Lucide (https://lucide.dev, ISC License, copyright Lucide Icons and Contributors) as inline SVG. Each icon is decoration beside a text.
 */
import SHAPES from './icons.json' with { type: 'json' };

export type IconName = keyof typeof SHAPES;

export const Icon = ({ of }: { of: IconName }) => (
  <svg class="icon" viewBox="0 0 24 24" aria-hidden="true">
    <path d={SHAPES[of]} />
  </svg>
);

/** How good a state is: the colour of badges and notes. */
export type Kind = 'good' | 'bad' | 'warn' | 'calm';

/** An icon for `<link rel="icon">`: a disc with the shape, in the colour of the state of the gateway. */
export function favicon(kind: Exclude<Kind, 'warn'>): string {
  const colour = { good: '#0f6b3a', bad: '#a8121f', calm: '#555e6b' }[kind];
  const shape = `<path d="${SHAPES.logo}" transform="translate(6 6) scale(.83)" fill="none" stroke="#fff" stroke-width="2.4"/>`;
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="8" fill="${colour}"/>${shape}</svg>`;
  return `data:image/svg+xml,${encodeURIComponent(svg)}`;
}
