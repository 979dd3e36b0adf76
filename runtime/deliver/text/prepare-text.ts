/** Prepares a text for a service that notifies the people whom it mentions, and for all others. */
import type { TextPlan } from '../../../schemas/generated/types.ts';
import type { Pieces } from './prepare-pieces.ts';
import { preparePieces } from './prepare-pieces.ts';
import { quietMentions } from './quiet-mentions.ts';
import { transformText } from './transforms.ts';

/** As `preparePieces`, with mentions that notify nobody where the plan says so. */
export async function prepareText(plan: TextPlan, raw: string): Promise<Pieces> {
  if (!plan.transforms.includes('quiet_mentions')) return preparePieces(plan, raw);
  // The other transforms come first, because a control character that is removed could hide a mention.
  const text = transformText(raw, plan.transforms);
  const whole = preparePieces(plan, await quietMentions(text, { whole: true }));
  if (whole.kind !== 'pieces' || (whole.pieces.length === 1 && plan.overflow !== 'truncate')) return whole;
  return preparePieces(plan, await quietMentions(text, { whole: false }));
}

/** A text that is not split: one of several in a message. */
export async function quietText({ transforms }: TextPlan, raw: string): Promise<string> {
  const text = transformText(raw, transforms);
  return transforms.includes('quiet_mentions') ? quietMentions(text, { whole: true }) : text;
}
