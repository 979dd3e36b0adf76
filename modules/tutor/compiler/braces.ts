/**
 * Braces in templates, in the spelling of other tools. The compiler asks about texts with other braces, and
 * about malformed ones (`Problem.ask`). What is in braces is an attempt at a placeholder unless it has the form of prose, JSON,
 * CSS, code or mathematics (`isOtherText`). A repair is given only if the text can have had no other meaning.
 */
import { PART, PATH, parseField, parsePath, printPath, splitField } from '../../../base/paths.ts';
import { readTokens } from '../../../compiler/config/grammar.ts';
import type { Problem } from '../../../compiler/diagnostics/diagnostic.ts';
import { lowerTemplate } from '../../../compiler/lower/template.ts';
import { BESIDE, BLOCK_WORDS, BRACE_HINTS, FOREIGN_ROOTS, HELPERS, MONEY_WORDS } from './built/names.ts';
import { isOtherText } from './harmless-braces.ts';
import { isNamed } from './read-values.ts';

type Answer = Pick<Problem, 'message' | 'hint' | 'fix'>;

/** Returns the problems of a template; `within` is the part of the text. */
export function readBraces(text: string): readonly Problem[] {
  const known = new Set(readTokens(text).map(({ offset }) => offset));
  const problems: Problem[] = [];
  let left = text;
  for (const { pattern, answer, inCode, once } of FORMS) {
    const searched = inCode === true ? left : left.replace(CODE, blank);
    const reports = [...searched.matchAll(pattern)].flatMap((match): readonly Problem[] => {
      const within = { offset: match.index, length: match[0].length };
      const answered = known.has(match.index) ? null : answer(match);
      return answered === null ? [] : [{ rule: 'template-braces', path: [], at: 'value', within, ...answered }];
    });
    let at = 0;
    const parts = reports.map(({ within: { offset, length } = NONE }) => {
      const part = left.slice(at, offset) + blank(left.slice(offset, offset + length));
      at = offset + length;
      return part;
    });
    left = parts.join('') + left.slice(at);
    problems.push(...(once === true ? reports.slice(0, 1) : reports));
  }
  return problems
    .map((problem) => withoutGuess(problem, text))
    .toSorted((a, b) => (a.within?.offset ?? 0) - (b.within?.offset ?? 0));
}

/** Adds to a malformed placeholder what to write instead. @param text the whole template */
export function readSyntax(problem: Problem, text: string): Problem {
  const { offset, length } = problem.within ?? NONE;
  const found = text.slice(offset, offset + length);
  if (found.startsWith('{#each') && readTokens(found).length === 0) return { ...problem, ...opening(found) };
  if (/^\{[#/]each/.test(found)) return { ...problem, hint: blockHint(text, offset) };
  const meant = meantBy(found);
  const message = `${problem.message}; write ${meant}`;
  // `a..b` may be a slip, or a field at any depth below `a`, as in JSONPath and jq; `01` a key, or an index.
  if (found.includes('..')) return { ...problem, message };
  if (/\[0\d/.test(found)) return { ...problem, message: `${message} or ${meant.replace(/\.0+(?=\d)/g, '.')}` };
  return withoutGuess({ ...problem, message, fix: { kind: 'replace', text: meant } }, text);
}

function blockHint(text: string, offset: number): string | undefined {
  if (isInCode({ input: text, index: offset })) return BRACE_HINTS.code;
  const [end] = /(?!\{\/each\})\{ *\/ *(?:[eE][aA][cC][hH] *)?\}/.exec(text) ?? [];
  return end && `write \`{/each}\` for \`${end}\``;
}

/** `{#each a[]}`, `{#each a.*}`, `{#each a as x}`, `{#each x in a}`. */
function opening(found: string): Partial<Answer> {
  const [, item, list = ''] =
    new RegExp(`^\\{#each\\s+(?:(${PART})\\s+(?:in|of)\\s+)?(?:this\\.|\\.|\\$\\.?)?(${PATH})`).exec(found) ?? [];
  if (list === '') return {};
  const [, name = item] = /\s(?:as\s+\|?|=>\s*)(\w+)/.exec(found) ?? [];
  const hint = name === undefined ? undefined : `inside, paths start at the element: \`{name}\` for \`{${name}.name}\``;
  return { message: `${found} is not the path of a list; write {#each ${list}}`, hint };
}

/** The start of a loop in Jinja, Liquid and Go, in which a path may begin at the element. */
const FOREIGN_LOOP =
  /\{%-?\s*for\b|\{\{[-~]?\s*(?:range|with|for)\b|\{\{(?:[-~]\s*#(?!(?:if|unless)\b)|\s*#(?!(?:if|unless)\b|each +[\w.]+ *\}\}))/;

/**
 * A repair is dropped if it is a guess: a path in a loop of another tool may begin at the element, its first part may be a name of
 * that tool, and the sign before it may be meant, as in an amount of money.
 */
function withoutGuess(problem: Problem, text: string): Problem {
  const { fix, message, hint, ...rest } = problem;
  if (fix?.kind !== 'replace') return problem;
  const bare = message.replace(/; write .*$/s, '');
  if (FOREIGN_LOOP.test(text)) return { ...rest, message: bare, hint: hint ?? BRACE_HINTS.element };
  const parts = parsePath(fix.text.slice(1, -1)) ?? [];
  const [fault] = parts.length === 0 ? [] : lowerTemplate(fix.text).problems;
  if (fault !== undefined) return { ...rest, message: bare, hint: fault.message };
  const [sign] = /^[$%](?!\{+ *github\.)/.exec(text.slice(rest.within?.offset ?? 0)) ?? [];
  const candidates = belowRoots(parts).map((path) => `\`{${printPath(path)}}\``);
  const isField = candidates.length > 0 || isNamed(HELPERS, parts.join('.'));
  if (!isField && sign === undefined) return problem;
  const own = `\`${fix.text}\`${isField ? ` if the payload itself has a field \`${parts[0]}\`` : ''}`;
  const signed = sign === undefined ? [] : [`\`${sign}${fix.text}\` if the \`${sign}\` is meant`];
  const isRight = text.startsWith(`${sign}${fix.text}`, rest.within?.offset);
  const advice = { message: bare, hint: `write ${[...candidates, own, ...signed].join(' or ')}` };
  return { ...rest, ...advice, ...(isRight ? { severity: 'hint' } : {}) };
}

/** The path without the names that steps, requests and events have in other tools: `trigger.body.id`, `1.id`, `12__id`. */
function belowRoots([first = '', ...rest]: readonly string[]): readonly (readonly string[])[] {
  const [, field] = /^\d+__(\w+)$/.exec(first) ?? [];
  if (field !== undefined) return [[...field.split('__'), ...rest]];
  if (rest.length === 0 || !(isNamed(FOREIGN_ROOTS, first) || /^\d+$/.test(first))) return [];
  // The name of a step follows.
  const below = /^(?:steps|nodes|outputs)$/.test(first) && rest.length > 1 ? rest.slice(1) : rest;
  const deeper = belowRoots(below);
  return deeper.length === 0 ? [below] : [...deeper, below];
}

const NONE = { offset: 0, length: 0 };
const blank = (text: string): string => text.replace(/[^\n]/g, ' ');

/** Fenced code, and code spans. */
const CODE = /```[\s\S]*?(?:```|$)|`[^`\n]*`/g;

/** A path in double braces, with the spaces, dot and filter that Jinja, Go and similar languages allow. */
const DOUBLED = new RegExp(`\\$?\\{\\{-?( *)((?<= )\\.)?(${PATH})( *)(\\|[^{}\\n]*)?-?\\}\\}`, 'g');

/** Loops and the element in Handlebars. */
const HANDLEBARS = new RegExp(
  `\\{\\{ *(?:(#each) +(?:this\\.)?(${PATH})|(/each)|(this)(?:\\.(${PATH}))?|(@index)) *\\}\\}`,
  'g',
);

/** `${a.b}` and `%{a.b}`, but not `${HOME}`, which is shell syntax. */
const DOLLAR = new RegExp(`(?:\\$|(?<![\\w}])%)\\{((?=[A-Z0-9_.-]*[a-z])${PATH})\\}`, 'g');

const CONTROL =
  /\{%-?\s[^{}\n]*%\}|<%[-_]? +(?:if|unless|for|each|while|\w+(?:\.\w+)*\.(?:each|forEach))\b[^\n<]{0,200}%>|\{\{[-~]? *(?:#(?:if|each|unless|with)|if|range|with|for|else\s+if)\s[^{}\n]*\}\}|\{\{[-~]? *(?:[#/][\w.]+|el(?:se|s?e?if)|end(?:if|for|foreach|unless|case|with)?) *[-~]?\}\}|\{ *(?:# *(?:if|for|unless|with|range|[eE]ach)|#E[aA][cC][hH])\b(?<!\{#each)[^{}\n]*\}|\{\{?[>^] *[A-Za-z_][\w.-]*\}\}?/g;

/** Delimiters of ERB, EJS, Python and others that have no braces; except for the first, only a dotted path is certain. */
const DELIMITED =
  /<%[-=]+([^\n<]{1,200}?)[-_]?%>|(?:\[\[|<<|\(\(|%\()\s*[.@$]?((?:[A-Za-z_]\w*\.)+[A-Za-z_]\w*)\s*(?:\]\]|>>|\)\)|\)s)/g;

/** Anything else in double braces. */
const EXPRESSION = /\{\{-?([^{}\n]*)\}\}/g;

/** Text in single braces. */
const SINGLE = /(?<!\{)\{([^{}]{1,300})\}/g;

/** A path with a bracket, and no closing brace on its line. */
const UNCLOSED =
  /\{[A-Za-z_][\w.]*\.(?=\{)|\{([\p{L}_$.][\w.$-]*\[(?:"[^"{}\n]*"?|'[^'{}\n]*'?|\w*)\]?[\w.]*)(?=[\s,;:!?]|$)(?!\s*=)(?![^{\n]*\})/gmu;

interface Form {
  readonly pattern: RegExp;
  readonly answer: (match: RegExpExecArray) => Answer | null;
  readonly inCode?: true;
  /** One report is enough for a text. */
  readonly once?: true;
}

/** A form is looked for outside of the texts of those before it. */
const FORMS: readonly Form[] = [
  { pattern: HANDLEBARS, answer: handlebars },
  { pattern: CONTROL, answer: control, once: true },
  { pattern: DOUBLED, answer: doubled, inCode: true },
  { pattern: EXPRESSION, answer: single },
  { pattern: DELIMITED, answer: ([written, inside, path = inside]) => attempt(path ?? '', written) },
  { pattern: DOLLAR, answer: dollar },
  { pattern: SINGLE, answer: single },
  { pattern: UNCLOSED, answer: ([written]) => literal(`${written} is not closed and`, [], 'notation') },
];

const ONE_WORD = new RegExp(`^${PART}$`);
const MONEY = new RegExp(MONEY_WORDS.replaceAll(' ', '|'), 'i');

const repaired = (message: string, path: string): Answer => ({
  message: `${message}; write {${path}}`,
  fix: { kind: 'replace', text: `{${path}}` },
});

function handlebars([written, each, list = '', end, item, path, index]: RegExpExecArray): Answer {
  const plain =
    each !== undefined ? `#each ${list}` : (end ?? index ?? (item !== undefined && path === undefined ? '.' : path));
  return repaired(`${written} has two pairs of braces instead of one`, plain ?? '');
}

function doubled(match: RegExpExecArray): Answer | null {
  const [written, before = '', dot, path = '', after = '', filter] = match;
  if (before + after === '' && filter === undefined)
    return repaired(`${written} leaves a pair of braces around the value`, path);
  // Spaces around a dotted path are unambiguous, and an error of `template-syntax`.
  if (isInCode(match) || (filter === undefined && dot === undefined && !ONE_WORD.test(path))) return null;
  const message = `${written} is not a placeholder and is delivered literally`;
  return filter === undefined ? repaired(message, path) : literal(written, [path], 'path');
}

const isInCode = ({ input, index }: Pick<RegExpExecArray, 'input' | 'index'>): boolean =>
  [...input.matchAll(CODE)].some(({ 0: span, index: start }) => index >= start && index < start + span.length);

function dollar([written, path = '']: RegExpExecArray): Answer | null {
  return MONEY.test(path) ? null : repaired(`${written} leaves the \`${written[0]}\` before the value`, path);
}

const LOOP =
  /(?:\bin +\.?|range +(?:.*:= *)?\.?|# *[eE][aA][cC][hH] +|\{\{ *#)(?!(?:if|unless|with|each)\b)((?:[A-Za-z_][\w-]*\.)*[A-Za-z_][\w-]*)/;

function control([written]: RegExpExecArray): Answer {
  const [, list] = LOOP.exec(written) ?? [];
  const message = `${written} is delivered literally: templates have placeholders and lists, but no conditions`;
  return {
    message,
    hint: list === undefined ? BRACE_HINTS.condition : `write \`{#each ${list}}…{/each}\`; ${BRACE_HINTS.element}`,
  };
}

/** @param meant the paths that it may mean, as far as known */
function literal(written: string, meant: readonly string[], hint: keyof typeof BRACE_HINTS): Answer {
  const write = meant.map((path) => `{${path}}`).join(' or ');
  return {
    message: `${written} is delivered literally${write === '' ? '' : `; write ${write}`}`,
    hint: BRACE_HINTS[hint],
  };
}

/** Text in braces; null if it may be prose, data or code. */
function single(match: RegExpExecArray): Answer | null {
  const [written, inside = ''] = match;
  return isNamed(BLOCK_WORDS, inside.trim()) || isOtherText(inside, match) ? null : attempt(inside, written);
}

/** Explains an attempt: which path is meant, and how it is written here. */
function attempt(inside: string, written: string): Answer {
  const path = inside.trim().replace(/^(?:github\.event|\$json(?:\.body)?)\.(?=\w)/, '');
  const [, above] = /^(?:\.\.\/)+([\w.[\]"]+)$/.exec(path) ?? [];
  if (above !== undefined) return literal(written, [`@root.${above}`], 'element');
  const all = blockFor(path);
  if (all !== null) return { ...literal(written, [], 'each'), hint: `${BRACE_HINTS.each} \`${all}\`` };
  const [block, below] = /^(?:@root\.(.+)|\.|@index|@root\[.*)$/s.exec(inside) ?? [];
  if (block !== undefined)
    return literal(written, below === undefined ? [] : [below], block === '.' ? 'whole' : 'block');
  const paths = meantPaths(path);
  const isSure = /^[\p{L}\p{N}_.[\]-]*\[['"\d]/u.test(path) && parseField(quoteKeys(path)) !== null;
  if (isSure) return repaired(`${written} is not a placeholder and is delivered literally`, paths[0] ?? '');
  return literal(written, paths, /\[-\d/.test(path) ? 'negative' : path.includes('[') ? 'notation' : 'path');
}

/** A path in an expression, and not the name of a function or a word before an argument. */
const PATH_WITHIN = /(?<![\w"])[A-Za-z_][\w-]*(?:\.[\w-]+|\[(?:\d+|"[^"]*")\])*(?![\w-]*\()/g;
const FUNCTION = /^(?:lookup|index|len|printf?|to_?json|eq|ne|jq|if|foreach|with)\s+/i;

/** A name with a sign or in quotes; keys with slashes, colons, blanks, other letters: `@odata.id`, `"a.b"`, `labels.app/name`. */
const KEYS = /^(?:["'][^"'\s]+["']|[$@#%=!&~^>:*+/]?[\p{L}\p{N}_](?:(?! [-.]|- |:(?!\p{L}))[\p{L}\p{N}_@:/#. -])*%?)$/u;

/** The paths that another spelling may mean, the likely one first: `a['b']`, `@odata.id`, `labels.app/name`, `len(a.b) + 1`. */
export function meantPaths(expression: string): readonly string[] {
  const path = expression
    .replace(/^\$?\.(?=\w)|^\$(?=\[)/, '')
    .replace(/->|::|[?!]\.(?=\w)/g, '.')
    .replace(/\.\s+(?=\w)/g, '.');
  const parts = /\[/.test(path) ? parseField(quoteKeys(path)) : null;
  if (parts !== null) return [printPath(parts)];
  const hasFunction = / /.test(path) && (FUNCTION.test(path) || !path.includes('.'));
  if (KEYS.test(path) && !hasFunction) return [...new Set(otherKeys(path).map((each) => printPath(each)))];
  const plain = quoteKeys(path.replace(FUNCTION, '').replace(/\.\w+\(\)/g, '')).replace(/(?<!\[)"[^"]*"|'[^']*'/g, ' ');
  const within = [...plain.matchAll(PATH_WITHIN)].map(([each]) => each);
  return [within.find((each) => /[.[]/.test(each)) ?? within[0] ?? []]
    .flat()
    .map((each) => printPath(splitField(each)));
}

/** A key, the parts around its signs, and the name without a sign or quotes. */
function otherKeys(path: string): readonly (readonly string[])[] {
  const key = path.replace(/^(["'])(.*)\1$/, '$2');
  const name = key.replace(/^[$@#%=!&~^>:*+/]|%$/g, '');
  const [first = '', ...rest] = name.split('.');
  if (key === name && parsePath(path) !== null) return [[first, ...rest]];
  const whole = rest.length === 0 ? name.split('/') : [first, rest.join('.')];
  return [whole, [first, ...rest], ...(/["'$@#:/]/.test(path) ? [[key]] : [])];
}

const WILDCARD =
  /^(?:\$\.|\.)?([\p{L}_@][\p{L}\p{N}_@-]*(?:\.[\p{L}\p{N}_@-]+)*)?(?:\.\*|\[\*\]|\[\]|\.#|\.\[\])(?=[.[|\s]|$)\s*\.?(.*)$/u;

/** The list and the rest of a path over all elements, such as `commits.*.id`, `items[].n`, `.#.`, `$.a[*].b`. */
export function elementsOf(path: string): { readonly list: string; readonly rest: string } | null {
  const [, list = '', rest = ''] = WILDCARD.exec(path) ?? [];
  // In jq, a pipe leads on to the elements, elsewhere to a filter.
  const [below = ''] = rest.replace(/^\|\s*/, '').split(/\s*\|/);
  return list === '' || /[\s{}"'()]/.test(below) ? null : { list, rest: below.replace(/^\./, '') };
}

/** The block that means such a path; null if it means no elements. */
function blockFor(path: string): string | null {
  // In jq, `map` is another spelling.
  const all = elementsOf(path.replace(/\s*\|\s*map\(\s*(\.[\w.]+)\s*\)$/, '[]$1'));
  if (all === null) return /^[$@.]?\*|^\.?\[\*?\]/.test(path) ? '{#each items}{name} {/each}' : null;
  const { list, rest } = all;
  return `{#each ${list}}${blockFor(rest) ?? `{${rest === '' ? '.' : rest}} `}{/each}`;
}

/** Writes `["a"]` for `['a']` and `[a]`. */
const quoteKeys = (path: string): string =>
  path.replace(
    /\[(?:'([^'\]]*)'|([A-Za-z_][\w./: -]*))\]/g,
    (_, quoted, bare) => `[${JSON.stringify(quoted ?? bare)}]`,
  );

/** Names for the payload in n8n and JSONPath (`{{ $json.body.a }}`, `{$.a}`) and in GitHub workflows (`${{ github.event.a }}`). */
const PAYLOAD = /^\$(?:github\.event\.|json(?:\.body)?(?=[.[]))?/;
/** The placeholder that a malformed one was probably meant to be. */
function meantBy(found: string): string {
  const beside: Readonly<Record<string, string>> = BESIDE;
  const path = found.replace(/^=?[\s{]+|[\s}]+$|(?<=^\$)\{+\s*/g, '').replaceAll("'", '"');
  const plain = (beside[path] ?? path.replace(PAYLOAD, '')).replace(/^\.(?=[^.])/, '');
  const parts = parseField(plain) ?? plain.split(/[.[\]"]+/).filter((part) => part !== '');
  return `{${printPath(parts)}}`;
}
