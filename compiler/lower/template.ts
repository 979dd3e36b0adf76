/** Lowers templates to segments: prompts, delivery addresses and coalesce keys (§2.5, §2.3). */

import type { TemplatePlan } from '../../schemas/generated/types.ts';
import { BARE_PATH, placeholder, segments } from '../config/template-grammar.ts';
import type { Lowered } from '../diagnostics/problem.ts';
import { coalesceKey } from '../rules/coalesce-key.ts';
import { templateBraces } from '../rules/template-braces.ts';
import { templateHeaders } from '../rules/template-headers.ts';
import { templateSyntax } from '../rules/template-syntax.ts';

/** Lowers one template. The `within` of each problem is the placeholder. */
export function lowerTemplate(text: string): Lowered<TemplatePlan> {
  const errors = templateSyntax.check(text);
  const warnings = [...templateBraces.check(text), ...templateHeaders.check(text)];
  return { plan: errors.length > 0 ? null : segments(text), problems: [...errors, ...warnings] };
}

/** Lowers a coalesce key: a bare dotted field, or a template with at least one placeholder. */
export function lowerCoalesceKey(text: string): Lowered<TemplatePlan> {
  if (BARE_PATH.test(text)) return { plan: [placeholder(text)], problems: [] };
  const lowered = lowerTemplate(text);
  const errors = lowered.plan === null ? [] : coalesceKey.check(text, lowered.plan);
  return errors.length === 0 ? lowered : { plan: null, problems: [...lowered.problems, ...errors] };
}

/** The default prompt: the event type, and the whole payload in a code fence. */
export const defaultPrompt: TemplatePlan = [
  { kind: 'text', text: "Webhook event '" },
  { kind: 'meta', name: 'event_type' },
  { kind: 'text', text: "' on route '" },
  { kind: 'meta', name: 'route' },
  { kind: 'text', text: "':\n\n```json\n" },
  { kind: 'dump' },
  { kind: 'text', text: '\n```' },
];
