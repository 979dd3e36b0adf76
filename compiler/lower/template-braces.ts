/** Placeholders in the syntax of other template languages. */

import { PART, PATH } from '../config/template-grammar.ts';
import type { Problem } from '../diagnostics/problem.ts';

export function checkBraces(text: string): readonly Problem[] {
  const code = [...text.matchAll(CODE)].map(({ 0: span, index }) => ({ start: index, end: index + span.length }));
  const isCode = ({ index }: RegExpExecArray): boolean => code.some(({ start, end }) => index >= start && index < end);
  return [
    ...[...text.matchAll(DOUBLED)].flatMap((match) => doubled(match, isCode(match))),
    ...[...text.matchAll(DOLLAR)].flatMap((match) => (isCode(match) ? [] : dollar(match))),
    ...[...text.matchAll(CONTROL)]
      .filter((match) => !isCode(match))
      .slice(0, 1)
      .map(control),
  ].toSorted((a, b) => (a.within?.offset ?? 0) - (b.within?.offset ?? 0));
}

/** Fenced code, and code spans. */
const CODE = /```[\s\S]*?(?:```|$)|`[^`\n]*`/g;

/** A path in double braces, with the spaces, dot and filter that Jinja, Go and similar languages allow. */
const DOUBLED = new RegExp(`\\$?\\{\\{-?( *)((?<= )\\.)?(${PATH})( *)(\\|[^{}\\n]*)?-?\\}\\}`, 'g');

/** `${a.b}`, but not `${HOME}`, which is shell syntax. */
const DOLLAR = new RegExp(`\\$\\{((?=[A-Z0-9_.-]*[a-z])${PATH})\\}`, 'g');

const CONTROL =
  /\{%-? *(?:if|for|set|unless|assign|case)\s[^{}\n]*%\}|\{\{-? *(?:#(?:if|each|unless|with)|if|range|with)\s[^{}\n]*\}\}/g;

const ONE_WORD = new RegExp(`^${PART}$`);
/** The middle and the end of conditions and loops. */
const KEYWORDS: ReadonlySet<string> = new Set(['else', 'end', 'this']);
const MONEY = /amount|price|cost|total|fee|paid|due|balance|budget|refund|tax|usd|cents|sum|salary|revenue|charge/i;

function doubled(match: RegExpExecArray, isCode: boolean): readonly Problem[] {
  const [written, before = '', dot, path = '', after = '', filter] = match;
  if (before + after === '' && filter === undefined)
    return [misspelt(match, `${written} leaves a pair of braces around the value; write {${path}}`, path)];
  // Spaces around a dotted path are unambiguous, and an error of `template-syntax`.
  if (isCode || KEYWORDS.has(path) || (filter === undefined && dot === undefined && !ONE_WORD.test(path))) return [];
  return [misspelt(match, `${written} is not a placeholder and is delivered literally; write {${path}}`, path)];
}

function dollar(match: RegExpExecArray): readonly Problem[] {
  const [written, path = ''] = match;
  if (MONEY.test(path)) return [];
  return [misspelt(match, `${written} leaves the \`$\` before the value; write {${path}}`, path)];
}

const misspelt = ({ 0: written, index }: RegExpExecArray, message: string, path: string): Problem => ({
  rule: 'template-braces',
  path: [],
  at: 'value',
  message,
  within: { offset: index, length: written.length },
  fix: { kind: 'replace', text: `{${path}}` },
});

const control = ({ 0: written, index }: RegExpExecArray): Problem => ({
  rule: 'template-braces',
  path: [],
  at: 'value',
  message: `${written} is delivered literally: templates have placeholders, but no conditions or loops`,
  within: { offset: index, length: written.length },
  hint: 'use `filters` for conditions, and a route for each case; a placeholder such as `{commits}` gives the whole list',
});
