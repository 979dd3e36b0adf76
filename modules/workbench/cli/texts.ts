/** Texts that explanations, tests, comparisons and kept requests print alike. */
import { resolve } from 'node:path';
import type { Paint } from '../../../base/paint.ts';
import { DEFAULT_PROFILE } from '../../../base/profiles.ts';
import type { CliContext } from '../../../cli/base/context.ts';
import { formatDiff } from '../../../cli/output/diff.ts';
import { visible } from '../../../cli/output/print.ts';
import { parseSecretRef } from '../../../compiler/text/secret-ref.ts';
import type { SecretRef } from '../../../schemas/generated/types.ts';

/** `ignored: filter`, `accepted`. */
export const outcomeText = (answer: { readonly outcome: string; readonly reason: string | null }): string =>
  [answer.outcome, ...otherReason(answer)].join(': ');

/** The reason, unless it only repeats the outcome. */
export const otherReason = ({ outcome, reason }: Parameters<typeof outcomeText>[0]): readonly string[] =>
  reason === null || reason === outcome ? [] : [reason];

/** `chat_id=5 thread_id=7`. */
export const addressText = (address: Readonly<Record<string, string>>): string =>
  Object.entries(address)
    .map(([key, value]) => `${key}=${value}`)
    .join(' ');

/** The lines in which two texts differ, safe for a terminal. */
export const textDiff = (before: string, after: string, paint: Paint): string[] =>
  formatDiff(visibleLines(before), visibleLines(after), paint);

const visibleLines = (text: string): string => text.split('\n').map(visible).join('\n');

/** A secret, or a reference to one; a relative path starts where the command was typed. */
export function typedSecretRef({ cwd }: CliContext, text: string): SecretRef {
  const ref = parseSecretRef(text, DEFAULT_PROFILE);
  return ref.kind === 'file' && !ref.value.startsWith('~/') ? { ...ref, value: resolve(cwd, ref.value) } : ref;
}
