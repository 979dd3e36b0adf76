/** Lowers templates to segments: prompts, delivery addresses and coalesce keys (§2.5, §2.3). */

import type { TemplatePlan } from '../../schemas/generated/types.ts';
import { BARE_PATH, PATH, placeholder, segments } from '../config/template-grammar.ts';
import type { Lowered, Problem } from '../diagnostics/problem.ts';
import { checkBraces } from './template-braces.ts';
import { checkSyntax } from './template-syntax.ts';

/** Lowers one template. The `within` of each problem is the placeholder. */
export function lowerTemplate(text: string): Lowered<TemplatePlan> {
  const errors = checkSyntax(text);
  const warnings = [...checkBraces(text), ...headerProblems(text)];
  return { plan: errors.length > 0 ? null : segments(text), problems: [...errors, ...warnings] };
}

const HEADER = new RegExp(`\\{headers\\.${PATH}\\}`, 'g');

const headerProblems = (text: string): readonly Problem[] =>
  [...text.matchAll(HEADER)].map(({ 0: written, index }) => ({
    rule: 'template-headers',
    path: [],
    at: 'value',
    message: `${written} never resolves: only filters can use headers`,
    within: { offset: index, length: written.length },
  }));

/** Lowers a coalesce key: a bare dotted field, or a template with at least one placeholder. */
export function lowerCoalesceKey(text: string): Lowered<TemplatePlan> {
  if (BARE_PATH.test(text)) return { plan: [placeholder(text)], problems: [] };
  const lowered = lowerTemplate(text);
  if (lowered.plan === null || lowered.plan.some(({ kind }) => kind !== 'text')) return lowered;
  const message =
    `the key ${JSON.stringify(text)} is the same for every event; ` +
    'write a dotted field (pull_request.number) or a template ({repository.full_name}#{number})';
  return { plan: null, problems: [...lowered.problems, { rule: 'coalesce-key', path: [], at: 'value', message }] };
}

/** An event in the list of a burst, by default. */
export const compactPayload: TemplatePlan = [{ kind: 'dump', compact: true }];

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
