import type { RefusedSwap } from '../../schemas/built/operations/types.ts';
/** The text for a refused swap, in `gateway status` and `gateway reload`. */

/** `the new table is refused: 3 lost, 1 changed of 1000 kept requests`. */
export function refusalText({ total, lost, gained, changed }: RefusedSwap): string {
  const counts = [`${lost} lost`, `${gained} gained`, `${changed} changed`].filter((text) => !text.startsWith('0 '));
  return `the new table is refused: ${counts.join(', ')} of ${total} kept ${total === 1 ? 'request' : 'requests'}`;
}
