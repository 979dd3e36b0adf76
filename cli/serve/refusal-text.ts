/** Why a swap was refused, for `gateway status` and `gateway reload`. */
import type { RefusedSwap } from '../../runtime/control/operations.ts';

/** `the new table is refused: of the last 1000 kept requests 3 would be lost, 1 changed`. */
export function refusalText({ total, lost, gained, changed }: RefusedSwap): string {
  const counts = [`${lost} lost`, `${gained} gained`, `${changed} changed`].filter((text) => !text.startsWith('0 '));
  return `the new table is refused: of the last ${total} kept requests ${counts.join(', ')}`;
}
