/** Lowers template text to segments, for prompts, delivery addresses and coalesce keys (§2.5, §2.3). */

import type { TemplatePlan } from '../../schemas/generated/types.ts';
import { BARE_PATH, PART, PATH, placeholder, segments } from '../config/template-grammar.ts';
import type { Lowered, Problem } from '../diagnostics/problem.ts';
import type { Rule } from '../diagnostics/rule.ts';
import { coalesceKey } from '../rules/coalesce-key.ts';
import { templateBraces } from '../rules/template-braces.ts';
import { templateHeaders } from '../rules/template-headers.ts';
import { templateSyntax } from '../rules/template-syntax.ts';

/** The rest of a path of two parts or more, after its first letter. */
const DOTTED = `[A-Za-z0-9_-]*(?:\\.${PART})+`;

/** A run from `{` to the next brace or line end, with its `}` when that comes first. */
const BRACED = /\{([^{}\n]*)(\}?)/g;

/**
 * Slips that cannot be prose, JSON or code in a prompt: each holds a dotted path and would stay in the text, unnoticed.
 * `inside` is what follows the brace. Shell ranges (`{1..5}`), spreads and ellipses (`{...}`) are none.
 */
const SLIPS: readonly { readonly closed: boolean; readonly inside: RegExp; readonly what: string }[] = [
  {
    closed: true,
    inside: /^(?=[\w.-]*\w[\w.-]*$)(?!\.{3}|\d+\.\.\d+$)(?:\.|.*\.\.|.*\.$)/,
    what: 'has an empty part',
  },
  {
    closed: true,
    inside: /^[A-Za-z_][A-Za-z0-9_.-]*\[(?:\d+|"[^"\]]*"|'[^'\]]*')\][\w.[\]"'-]*$/,
    what: 'indexes with brackets',
  },
  { closed: true, inside: new RegExp(`^(?=\\s|.*\\s$)\\s*[A-Za-z]${DOTTED}\\s*$`), what: 'has spaces inside' },
  { closed: false, inside: new RegExp(`^[A-Za-z]${DOTTED}(?:\\s|$)`), what: 'is not closed' },
];

/** The placeholder somebody who wrote `found` most likely meant. */
function suggest(found: string): string {
  const parts = found.replace(/["'\s{}]/g, '').split(/[.[\]]+/);
  return `{${parts.filter((part) => part !== '').join('.')}}`;
}

function problem(rule: Rule, message: string, more: Pick<Problem, 'within' | 'fix'> = {}): Problem {
  return { rule, path: [], at: 'value', message, ...more };
}

function slips(text: string): Problem[] {
  return [...text.matchAll(BRACED)].flatMap((match) => {
    const [braced, inside = '', close] = match;
    const slip = SLIPS.find((one) => one.closed === (close === '}') && one.inside.test(inside));
    if (slip === undefined) return [];
    const isDoubled = slip.closed && text[match.index - 1] === '{' && text[match.index + braced.length] === '}';
    const found = isDoubled ? `{${braced}}` : slip.closed ? braced : `{${/^\S+/.exec(inside)?.[0] ?? ''}`;
    const meant = suggest(found);
    const within = { offset: match.index - (isDoubled ? 1 : 0), length: found.length };
    const message = `${found} ${slip.what}; write ${meant}`;
    return [problem(templateSyntax, message, { within, fix: { kind: 'replace', text: meant } })];
  });
}

/** Placeholders that are well formed and yet never do what their author hopes. */
function surprises(text: string): Problem[] {
  const doubled = [...text.matchAll(new RegExp(`\\{\\{(${PATH})\\}\\}`, 'g'))].map((match) =>
    problem(templateBraces, `${match[0]} keeps one pair of braces around the value; write {${match[1]}}`, {
      within: { offset: match.index, length: match[0].length },
      fix: { kind: 'replace', text: `{${match[1]}}` },
    }),
  );
  const headers = [...text.matchAll(new RegExp(`\\{headers\\.${PATH}\\}`, 'g'))].map((match) =>
    problem(templateHeaders, `${match[0]} never resolves: templates see the payload, only filters see headers`, {
      within: { offset: match.index, length: match[0].length },
    }),
  );
  return [...doubled, ...headers];
}

/**
 * Lowers one template. Problems: `template-syntax` (error: looks like a placeholder and is none), `template-braces`
 * and `template-headers` (warnings); `within` points at the placeholder.
 */
export function lowerTemplate(text: string): Lowered<TemplatePlan> {
  const errors = slips(text);
  return { plan: errors.length > 0 ? null : segments(text), problems: [...errors, ...surprises(text)] };
}

/** Lowers a coalesce key: a bare dotted field, or a template with at least one placeholder (`coalesce-key`). */
export function lowerCoalesceKey(text: string): Lowered<TemplatePlan> {
  if (BARE_PATH.test(text)) return { plan: [placeholder(text)], problems: [] };
  const lowered = lowerTemplate(text);
  if (lowered.plan === null || lowered.plan.some((segment) => segment.kind !== 'text')) return lowered;
  const message =
    `the key ${JSON.stringify(text)} is the same for every event; ` +
    'write a dotted field (pull_request.number) or a template ({repository.full_name}#{number})';
  return { plan: null, problems: [...lowered.problems, problem(coalesceKey, message)] };
}

/** The prompt of a route without `prompt`: which event it is, and the whole payload in a fence. */
export const defaultPrompt: TemplatePlan = [
  { kind: 'text', text: "Webhook event '" },
  { kind: 'meta', name: 'event_type' },
  { kind: 'text', text: "' on route '" },
  { kind: 'meta', name: 'route' },
  { kind: 'text', text: "':\n\n```json\n" },
  { kind: 'dump' },
  { kind: 'text', text: '\n```' },
];
