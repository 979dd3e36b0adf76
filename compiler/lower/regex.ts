/** Checks that RE2 supports a regex (§2.2). */
import { RE2JSSyntaxException } from 're2js';
import type { Lowered, NodePath, Problem } from '../diagnostics/problem.ts';
import { flowText } from '../text/flow-text.ts';
import { linearRegex } from '../text/linear-regex.ts';

export function lowerRegex(source: string, path: NodePath): Lowered<string> {
  const at = { rule: 'regex-syntax', path, at: 'value' } as const;
  const plain = withoutSlashes(source);
  if (plain !== null) {
    const message = `a regex has no slashes around it: write \`${plain}\``;
    return { plan: null, problems: [{ ...at, message, fix: { kind: 'replace', text: flowText(plain) } }] };
  }
  const refused = refusal(source);
  return refused === null ? { plan: source, problems: [] } : { plan: null, problems: [{ ...at, ...refused }] };
}

/** Returns null if the regex is valid. */
function refusal(source: string): Pick<Problem, 'message' | 'within' | 'hint'> | null {
  try {
    linearRegex(source);
    return null;
  } catch (error) {
    const fragment = error instanceof RE2JSSyntaxException ? (error.getPattern() ?? '') : '';
    const reason = error instanceof RE2JSSyntaxException ? error.getDescription() : String(error);
    const offset = fragment === '' ? -1 : source.indexOf(fragment);
    const hint = regexHint(source) ?? regexHint(fragment);
    return {
      message: `the regex is not valid RE2: ${reason}${offset < 0 ? '' : `: ${fragment}`}`,
      ...(offset < 0 ? {} : { within: { offset, length: fragment.length } }),
      ...(hint === undefined ? {} : { hint }),
    };
  }
}

/** Explains why RE2 rejects syntax that other engines accept. */
function regexHint(text: string): string | undefined {
  if (/\(\?<?[=!]/.test(text)) return 'lookaround is not linear-time; use two filters, one of them under `not`';
  const [, end] = /^\*([\w.-]+)$/.exec(text) ?? [];
  if (end !== undefined)
    return `a regex is not a glob: write \`regex: ${JSON.stringify(`${end.replaceAll('.', '[.]')}$`)}\``;
  if (/\\[1-9k]/.test(text)) return 'back-references are not linear-time; payloads are hostile';
  return undefined;
}

/** Removes the slashes of `/^main$/i`, which would be matched literally. Returns null if there are none or they may be meant. */
function withoutSlashes(source: string): string | null {
  const [, pattern = '', flags = ''] = /^\/(.+)\/([a-z]*)$/.exec(source) ?? [];
  if (!pattern.startsWith('^') && !pattern.endsWith('$') && flags === '') return null;
  const known = [...new Set(flags)].filter((flag) => 'ims'.includes(flag)).join('');
  return `${known === '' ? '' : `(?${known})`}${pattern.replaceAll('\\/', '/')}`;
}
