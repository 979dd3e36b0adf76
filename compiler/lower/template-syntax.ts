/** A malformed placeholder. */

import { PART } from '../config/template-grammar.ts';
import type { Problem } from '../diagnostics/problem.ts';

export function checkSyntax(text: string): readonly Problem[] {
  return [
    ...loneBrace(text),
    ...[...text.matchAll(BRACED)].flatMap((match): readonly Problem[] => {
      const [braced, inside = '', close] = match;
      const slip = SLIPS.find((one) => one.closed === (close === '}') && one.inside.test(inside));
      if (slip === undefined) return [];
      const before = slip.closed && text[match.index + braced.length] === '}' ? outerBraces(text, match.index) : '';
      const closed = before === '' ? braced : `${before}${braced}}`;
      const found = slip.closed ? closed : `{${/^\S+/.exec(inside)?.[0] ?? ''}`;
      const meant = meantBy(found);
      const within = { offset: match.index - before.length, length: found.length };
      const message = `${found} ${slip.what}; write ${meant}`;
      return [
        { rule: 'template-syntax', path: [], at: 'value', message, within, fix: { kind: 'replace', text: meant } },
      ];
    }),
  ];
}

/** `{name` or `name}` in a text without another brace. */
const NOT_CLOSED = /^[^{}]*(\{[A-Za-z_]\w*)[.,;:!?)]*(?:\s[^{}]*)?$/d;
const NOT_OPENED = /^(?:[^{}]*[\s(#])?([A-Za-z_][\w.]*\})[^{}]*$/d;

/** Code has braces in pairs, so that a single one in a text is half of a placeholder. */
function loneBrace(text: string): readonly Problem[] {
  const [, span] = (NOT_CLOSED.exec(text) ?? NOT_OPENED.exec(text))?.indices ?? [];
  if (span === undefined) return [];
  const [offset, end] = span;
  const found = text.slice(offset, end);
  const meant = found.startsWith('{') ? `${found}}` : `{${found}`;
  const message = `${found} ${found.startsWith('{') ? 'is not closed' : 'is not opened'}; write ${meant}`;
  const within = { offset, length: found.length };
  return [{ rule: 'template-syntax', path: [], at: 'value', message, within, fix: { kind: 'replace', text: meant } }];
}

/** The rest of a path of two parts or more, after its first letter. */
const DOTTED = `[A-Za-z0-9_-]*(?:\\.${PART})+`;

/** Text from `{` to the next brace or line end, including a `}`. */
const BRACED = /\{([^{}\n]*)(\}?)/g;

/**
 * Mistakes that cannot be prose, JSON or code in a prompt: each contains a dotted path and would otherwise be delivered
 * literally. `inside` matches the text after the brace. Shell ranges (`{1..5}`), spreads and ellipses (`{...}`) do not match.
 */
const SLIPS: readonly { readonly closed: boolean; readonly inside: RegExp; readonly what: string }[] = [
  {
    closed: true,
    inside: /^(?!\.{3}|\d+\.\.\d+$)(?=\.|[^.]*\.(?:[^.]+\.)*(?:\.|$))(?=[.-]*\w)[\w.-]+$/,
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

/** The text before the inner braces of `{{ … }}`, `${{ … }}` and, at the start of a text, n8n's `={{ … }}`. */
const outerBraces = (text: string, at: number): string =>
  /(?:\$|^=)?\{$/.exec(text.slice(Math.max(0, at - 2), at))?.[0] ?? '';

/** Names for the payload in n8n and JSONPath (`{{ $json.body.a }}`, `{$.a}`) and in GitHub workflows (`${{ github.event.a }}`). */
const PAYLOAD = /^\$(?:github\.event\.|json(?:\.body)?(?=[.[]))?/;
/** Equivalents of other values in such workflows. */
const BESIDE: Readonly<Record<string, string>> = {
  '$github.repository': 'repository.full_name',
  '$github.actor': 'sender.login',
  '$github.event_name': 'event_type',
  '$github.ref': 'ref',
};

/** The placeholder that was probably meant. */
function meantBy(found: string): string {
  const path = found.replace(/["'\s{}]|^=/g, '');
  const parts = (BESIDE[path] ?? path.replace(PAYLOAD, '')).split(/[.[\]]+/);
  return `{${parts.filter((part) => part !== '').join('.')}}`;
}
