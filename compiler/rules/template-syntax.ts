/** A placeholder that is none. */

import { PART } from '../config/template-grammar.ts';
import type { Problem } from '../diagnostics/problem.ts';
import type { ListedRule } from './support/listed-rule.ts';

export const templateSyntax = {
  id: 'template-syntax',
  group: 'templates',
  severity: 'error',
  title: 'A template holds braces that look like a placeholder and would stay in the text.',
  why: 'The slip would show up in the first real message: `{ issue.title }` is delivered as it stands.',
  check(text: string): readonly Problem[] {
    return [...text.matchAll(BRACED)].flatMap((match): readonly Problem[] => {
      const [braced, inside = '', close] = match;
      const slip = SLIPS.find((one) => one.closed === (close === '}') && one.inside.test(inside));
      if (slip === undefined) return [];
      const before = slip.closed && text[match.index + braced.length] === '}' ? outerBraces(text, match.index) : '';
      const closed = before === '' ? braced : `${before}${braced}}`;
      const found = slip.closed ? closed : `{${/^\S+/.exec(inside)?.[0] ?? ''}`;
      const meant = meantBy(found);
      const within = { offset: match.index - before.length, length: found.length };
      const message = `${found} ${slip.what}; write ${meant}`;
      return [{ rule: templateSyntax, path: [], at: 'value', message, within, fix: { kind: 'replace', text: meant } }];
    });
  },
} as const satisfies ListedRule;

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
  { closed: true, inside: /^\s*\$(?:json)?[.[][\w.[\]"'-]+\s*$/, what: 'begins with `$`' },
  { closed: false, inside: new RegExp(`^[A-Za-z]${DOTTED}(?:\\s|$)`), what: 'is not closed' },
];

/** What stands before the inner braces of `{{ … }}`, of `${{ … }}` and, in n8n, of a text that begins with `={{ … }}`. */
const outerBraces = (text: string, at: number): string =>
  /(?:\$|^=)?\{$/.exec(text.slice(Math.max(0, at - 2), at))?.[0] ?? '';

/** Names of the payload in n8n and JSONPath (`{{ $json.body.a }}`, `{$.a}`) and in workflows of GitHub (`${{ github.event.a }}`). */
const PAYLOAD = /^\$(?:github\.event\.|json(?:\.body)?(?=[.[]))?/;
/** What such workflows have beside the payload. */
const BESIDE: Readonly<Record<string, string>> = {
  '$github.repository': 'repository.full_name',
  '$github.actor': 'sender.login',
  '$github.event_name': 'event_type',
  '$github.ref': 'ref',
};

/** The placeholder most likely meant by `found`. */
function meantBy(found: string): string {
  const path = found.replace(/["'\s{}]|^=/g, '');
  const parts = (BESIDE[path] ?? path.replace(PAYLOAD, '')).split(/[.[\]]+/);
  return `{${parts.filter((part) => part !== '').join('.')}}`;
}
