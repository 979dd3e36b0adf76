/** Describes untrusted text in messages. */
import type { UntrustedPart } from './untrusted-texts.ts';

/** "`{issue.body}` (written by whoever opens the issue)"; for an object, also names the text in it. */
export function describePart({ placeholder, path, review }: UntrustedPart): string {
  if (placeholder === null) return 'the whole payload, which the default prompt shows,';
  const shown = `\`${placeholder}\``;
  if (placeholder === '{__raw__}') return `${shown} (the whole payload)`;
  if (path === null) return `${shown} (unknown content: anyone may have written it)`;
  const inside = placeholder === `{${path}}` ? '' : `with \`${path}\`, `;
  return `${shown} (${inside}${review?.by === undefined ? 'free text' : `written by ${review.by}`})`;
}

/** Whether it is the whole payload, by its placeholder or through the default prompt. */
export const isWholePayload = ({ placeholder }: UntrustedPart): boolean =>
  placeholder === null || placeholder === '{__raw__}';
