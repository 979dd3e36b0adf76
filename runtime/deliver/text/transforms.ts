/**
 * The named text transforms of target plans: they keep a service from reading delivered text as markup or as a mention
 * that pings a crowd. Applied in the plan's order, before splitting, so that what they add counts.
 */
import type { TextPlan } from '../../../schemas/generated/types.ts';

export type Transform = TextPlan['transforms'][number];

/** Zero-width space: invisible, and the end of whatever a parser had begun to recognise. */
const ZWSP = '\u200B';

const TRANSFORMS: Readonly<Record<Transform, (text: string) => string>> = {
  // `&` first: the entities that follow hold one.
  slack_entities: (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;'),
  zwsp_after_at: (text) => text.replaceAll('@', `@${ZWSP}`),
  break_angle_at: (text) => text.replace(/<(?=@|at\b)/gi, `<${ZWSP}`),
  break_angle: (text) => text.replaceAll('<', `<${ZWSP}`),
  break_everyone: (text) => text.replace(/@(?=everyone|here|all)/gi, `@${ZWSP}`),
  break_templates: (text) => text.replace(/\{(?=[{%#])/g, `{${ZWSP}`),
  strip_controls: (text) => text.replace(/[\0-\x08\x0B\x0C\x0E-\x1F\x7F]/g, ''),
};

/** Lone surrogates become U+FFFD first: no service takes them, and UTF-8 has no form for them. */
export function transformText(text: string, transforms: readonly Transform[]): string {
  const wellFormed = text.replace(/\p{Surrogate}/gu, '\uFFFD');
  return transforms.reduce((result, name) => TRANSFORMS[name](result), wellFormed);
}

/** What a transform wrote and a split must not cut in two; null when there is nothing of the kind. */
export function atomsOf(transforms: readonly Transform[]): RegExp | null {
  return transforms.includes('slack_entities') ? /&(?:amp|lt|gt);/y : null;
}
