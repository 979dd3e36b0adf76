/** Turns the text of a delivery into the pieces to send: transforms, splits or shortens it according to the target's plan. */
import type { TextPlan } from '../../../schemas/generated/types.ts';
import { measure, splitText } from './split-text.ts';
import { atomsOf, transformText } from './transforms.ts';

/** The pieces in order, or why there are none. */
export type Pieces = { readonly kind: 'pieces'; readonly pieces: readonly string[] } | Refused;
type Refused = { readonly kind: 'refused'; readonly reason: string };

const ELLIPSIS = '…';

/** Refuses an empty text, and one that is too long if the plan rejects it or it needs too many pieces. */
export function preparePieces(plan: TextPlan, raw: string): Pieces {
  const text = transformText(raw, plan.transforms);
  if (text.trim() === '') return { kind: 'refused', reason: 'the text is empty' };
  if (plan.limit === null || measure(text, plan.unit) <= plan.limit) return { kind: 'pieces', pieces: [text] };
  return OVERFLOW[plan.overflow]({ ...plan, limit: plan.limit }, text);
}

type Limited = TextPlan & { readonly limit: number };

const OVERFLOW: Readonly<Record<TextPlan['overflow'], (plan: Limited, text: string) => Pieces>> = {
  split: (plan, text) => {
    const pieces = plan.numbered ? splitNumbered(plan, text) : splitAt(plan, text, 0);
    if (pieces.length <= plan.max_pieces) return { kind: 'pieces', pieces };
    return { kind: 'refused', reason: `the text needs ${pieces.length} messages, at most ${plan.max_pieces} are sent` };
  },
  truncate: (plan, text) => {
    const [first = ''] = splitAt(plan, text, measure(ELLIPSIS, plan.unit));
    return { kind: 'pieces', pieces: [`${first.trimEnd()}${ELLIPSIS}`] };
  },
  reject: (plan, text) => {
    const length = measure(text, plan.unit);
    return { kind: 'refused', reason: `the text is ${length} long (${plan.unit}), at most ${plan.limit} are taken` };
  },
};

/** @param room length to leave free in every piece */
function splitAt(plan: Limited, text: string, room: number): string[] {
  return splitText(text, { limit: plan.limit - room, unit: plan.unit, atoms: atomsOf(plan.transforms) });
}

/** ` (i/n)` needs room that depends on the number of pieces: more digits are tried until they suffice. */
function splitNumbered(plan: Limited, text: string): string[] {
  for (let digits = 1; ; digits++) {
    const pieces = splitAt(plan, text, ' (/)'.length + 2 * digits);
    const count = String(pieces.length);
    if (count.length <= digits) return pieces.map((piece, index) => `${piece} (${index + 1}/${count})`);
  }
}
