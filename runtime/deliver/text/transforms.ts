/**
 * The text transforms of target plans. They keep a service from parsing delivered text as markup or as a mention of many
 * people. They run in the plan's order, before splitting, so that the characters they add count.
 */
import type { TextPlan } from '../../../schemas/generated/types.ts';

export type Transform = TextPlan['transforms'][number];

/** Zero-width space: invisible, and it ends any markup that a parser had begun to recognise. */
const ZWSP = '\u200B';

const TRANSFORMS: Readonly<Record<Transform, (text: string) => string>> = {
  // `&` first, because the entities contain it.
  slack_entities: (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;'),
  // The service decodes character references before it looks for names.
  zwsp_after_at: (text) => text.replaceAll('@', `@${ZWSP}`).replace(/&(?=#|commat;)/gi, `&${ZWSP}`),
  break_angle_at: (text) => text.replace(/<(?=@|at\b)/gi, `<${ZWSP}`),
  break_angle: (text) => text.replaceAll('<', `<${ZWSP}`),
  break_everyone: (text) => text.replace(/@(?=everyone|here|all)/gi, `@${ZWSP}`),
  break_templates: (text) => text.replace(/\{(?=[{%#])/g, `{${ZWSP}`),
  // A command of a bot or a code host is a line of its own; blanks before it may be removed.
  break_commands: (text) => text.replace(/^([^\S\r\n\u2028\u2029]*)\/(?=[a-z])/gim, `$1${ZWSP}/`),
  // Needs a parser, which is loaded on demand: prepare-text.ts.
  quiet_mentions: (text) => text,
  strip_controls: (text) => text.replace(/[\0-\x08\x0B\x0C\x0E-\x1F\x7F]/g, ''),
};

/** Replaces lone surrogates with U+FFFD first, because UTF-8 cannot encode them. */
export function transformText(text: string, transforms: readonly Transform[]): string {
  const wellFormed = text.replace(/\p{Surrogate}/gu, '\uFFFD');
  return transforms.reduce((result, name) => TRANSFORMS[name](result), wellFormed);
}

/** Matches the sequences that a transform writes and that must not be split; null when there are none. */
export function atomsOf(transforms: readonly Transform[]): RegExp | null {
  return transforms.includes('slack_entities') ? /&(?:amp|lt|gt);/y : null;
}
