/** A prompt that asks for a value nobody gives. */
import type { Rule } from '../diagnostics/rule.ts';

export const blueprintPrompt = {
  id: 'blueprint-prompt',
  severity: 'error',
  title: 'The prompt of a blueprint holds a placeholder that is none of its fields.',
  why: 'It would stay in every prompt of the job as it stands.',
} as const satisfies Rule;
