/**
 * Braces in templates, and fields of filters, in the spelling of other tools. The compiler asks about texts with braces that are
 * no placeholders (`Problem.ask`). A repair is given only if the text can have had no other meaning.
 */
import { PART, PATH, parseField, parsePath, printPath } from '../../../base/paths.ts';
import { readTokens } from '../../../compiler/config/grammar.ts';
import type { Problem } from '../../../compiler/diagnostics/diagnostic.ts';
import { FOREIGN_LOOP } from '../../../compiler/lower/template.ts';

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
    for (const { within = NONE } of reports) {
      const end = within.offset + within.length;
      left = left.slice(0, within.offset) + blank(left.slice(within.offset, end)) + left.slice(end);
    }
    problems.push(...(once === true ? reports.slice(0, 1) : reports));
  }
  const isLoop = FOREIGN_LOOP.test(text);
  return problems
    .map((problem) => (isLoop && problem.fix !== undefined ? inLoop(problem) : problem))
    .toSorted((a, b) => (a.within?.offset ?? 0) - (b.within?.offset ?? 0));
}

/** In a loop of another tool, a path may begin at the element: the spelling depends on what becomes of the loop. */
const inLoop = ({ fix: _, message, ...rest }: Problem): Problem => ({
  ...rest,
  message: message.replace(/; write .*$/s, ''),
});

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

/** `${a.b}`, but not `${HOME}`, which is shell syntax. */
const DOLLAR = new RegExp(`\\$\\{((?=[A-Z0-9_.-]*[a-z])${PATH})\\}`, 'g');

const CONTROL =
  /\{%-? *(?:if|for|set|unless|assign|case)\s[^{}\n]*%\}|\{\{-? *(?:#(?:if|each|unless|with)|if|range|with|for)\s[^{}\n]*\}\}|\{\{ *#[\w.]+ *\}\}|\{(?:# *(?:if|for|unless|with|range|[eE]ach)|#E[aA][cC][hH])\b(?<!\{#each)[^{}\n]*\}|\{\{?[>^] *[A-Za-z_][\w.-]*\}\}?/g;

/** Anything else in double braces that reads a value. */
const EXPRESSION = /\{\{-? *[\w.$]+[^{}\n]*\}\}/g;

/** Text in single braces, on one line. */
const SINGLE = /(?<![{$])\{([^{}\n]{1,200})\}/g;

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
  { pattern: EXPRESSION, answer: expression },
  { pattern: DOLLAR, answer: dollar },
  { pattern: SINGLE, answer: (match) => single(match[1] ?? '', match) },
];

const ONE_WORD = new RegExp(`^${PART}$`);
/** The middle and the end of conditions and loops. */
const KEYWORDS: ReadonlySet<string> = new Set(['else', 'end', 'this']);
const MONEY = /amount|price|cost|total|fee|paid|due|balance|budget|refund|tax|usd|cents|sum|salary|revenue|charge/i;

const repaired = (message: string, path: string): Answer => ({
  message: `${message}; write {${path}}`,
  fix: { kind: 'replace', text: `{${path}}` },
});

function handlebars([written, each, list = '', end, item, path, index]: RegExpExecArray): Answer {
  const plain =
    each !== undefined ? `#each ${list}` : (end ?? index ?? (item !== undefined && path === undefined ? '.' : path));
  return repaired(`${written} has two pairs of braces, and blocks have one`, plain ?? '');
}

function doubled(match: RegExpExecArray): Answer | null {
  const [written, before = '', dot, path = '', after = '', filter] = match;
  if (before + after === '' && filter === undefined)
    return repaired(`${written} leaves a pair of braces around the value`, path);
  // Spaces around a dotted path are unambiguous, and an error of `template-syntax`.
  if (isInCode(match) || KEYWORDS.has(path) || (filter === undefined && dot === undefined && !ONE_WORD.test(path)))
    return null;
  const message = `${written} is not a placeholder and is delivered literally`;
  return filter === undefined ? repaired(message, path) : literal(written, `{${path}}`, NO_FILTERS);
}

const isInCode = ({ input, index }: RegExpExecArray): boolean =>
  [...input.matchAll(CODE)].some(({ 0: span, index: start }) => index >= start && index < start + span.length);

function dollar([written, path = '']: RegExpExecArray): Answer | null {
  return MONEY.test(path) ? null : repaired(`${written} leaves the \`$\` before the value`, path);
}

const LOOP =
  /(?:\bin +\.?|range +(?:.*:= *)?\.?|# *[eE][aA][cC][hH] +|\{\{ *#)(?!(?:if|unless|with|each)\b)((?:[A-Za-z_][\w-]*\.)*[A-Za-z_][\w-]*)/;

function control([written]: RegExpExecArray): Answer {
  const [, list] = LOOP.exec(written) ?? [];
  return {
    message: `${written} is delivered literally: templates have placeholders and lists, but no conditions`,
    hint:
      list === undefined
        ? 'use `filters` for conditions, and a route for each case'
        : `write \`{#each ${list}}…{/each}\`; inside, \`{name}\` is a field of the element, \`{.}\` the element itself`,
  };
}

function expression(match: RegExpExecArray): Answer | null {
  const [written] = match;
  const inside = written.replace(/^\{\{-? *|-? *\}\}$/g, '');
  if (KEYWORDS.has(inside) || !/[[(|]|(?:^|\s)\.\w|\w\.\w/.test(inside)) return null;
  return (
    single(inside.replace(/^\./, ''), match) ??
    literal(written, null, 'a placeholder is a path in single braces, such as `{issue.title}`')
  );
}

const NO_FILTERS = 'values are inserted unchanged: templates have no filters, formats or defaults';

/** @param meant what to write instead; null if unknown */
const literal = (written: string, meant: string | null, hint: string): Answer => ({
  message: `${written} is delivered literally${meant === null ? '' : `; write ${meant}`}`,
  hint,
});

/** A word that can be a key, and a path of such words with a dot, an underscore or a bracket, which prose does not have. */
const WORD = '[\\p{L}_][\\p{L}\\p{N}_-]*';
const CERTAIN = new RegExp(`^(?=.*[._[])(?!\\p{L}\\.\\p{L}\\.?$)${WORD}(?:\\.[\\p{L}\\p{N}_-]+|\\[[^\\]]*\\])*$`, 'u');
const isCertain = (path: string): boolean => CERTAIN.test(path);

/** Filters of Jinja, Liquid, Twig and Go that are not ordinary words: `{approve|reject}` is a choice. */
const FILTERS =
  /^(?:capitali[sz]e|downcase|escape|from_?json|length|lower(?:case)?|nl2br|strip_?html|striptags|titlecase|to_?json|to_?string|trim|truncate(?:words)?|upcase|upper(?:case)?|url_?encode|wordcount)\b|^\w+\s*[(:]\s*['"\d.]/i;

/** Text in single braces that looks like an attempt at a placeholder; null if it may be prose, JSON or code. */
function single(inside: string, match: RegExpExecArray): Answer | null {
  const [written] = match;
  const trimmed = inside.trim();
  return (
    elements(trimmed, written) ??
    brackets(trimmed, written, inside) ??
    suffixed(trimmed, written) ??
    special(inside, match) ??
    inCode(trimmed, written) ??
    oddKey(inside, written)
  );
}

const WILDCARD =
  /^(?:\$\.|\.)?([\p{L}_@][\p{L}\p{N}_@-]*(?:\.[\p{L}\p{N}_@-]+)*)?(?:\.\*|\[\*\]|\[\]|\.#|\.\[\])(?=[.[|\s]|$)\s*\.?(.*)$/u;

/** The list and the rest of a path over all elements, such as `commits.*.id`, `items[].n`, `.#.`, `$.a[*].b`. */
function elementsOf(path: string): { readonly list: string; readonly rest: string } | null {
  const [, list = '', rest = ''] = WILDCARD.exec(path) ?? [];
  // In jq, a pipe leads on to the elements, elsewhere to a filter.
  const [below = ''] = rest.replace(/^\|\s*/, '').split(/\s*\|/);
  return list === '' || /[\s{}"'()]/.test(below) ? null : { list, rest: below.replace(/^\./, '') };
}

/** The block that means such a path. */
function blockFor({ list, rest }: { readonly list: string; readonly rest: string }): string {
  const below = elementsOf(rest);
  const inner = below === null ? `{${rest === '' ? '.' : rest}} ` : blockFor(below);
  return `{#each ${list}}${inner}{/each}`;
}

function elements(path: string, written: string): Answer | null {
  // In jq, `map` is another spelling.
  const all = elementsOf(path.replace(/\s*\|\s*map\(\s*(\.[\w.]+)\s*\)$/, '[]$1'));
  // `{src.*}` and `{*.ts}` are globs of files; `{a.*b}` is code.
  if (all === null || (all.rest === '' && /\.\*$|^(?:string|number|boolean|any|int|char|byte|object)\[/.test(path)))
    return null;
  return literal(written, null, `for each element of a list, write \`${blockFor(all)}\``);
}

/** `data[email]`, `a['b']`, ` items[0].id `: brackets in the spelling of PHP, Python or a form. */
function brackets(path: string, written: string, inside: string): Answer | null {
  if (!/^[\p{L}_$][\p{L}\p{N}_.-]*\[/u.test(path)) return null;
  if (/\[-\d+\]/.test(path))
    return literal(
      written,
      null,
      'elements are counted from the start: `{items[0].id}`; a list as a whole is `{items}`',
    );
  const parts = parseField(quoteKeys(path));
  // A range, a condition, or a bracket or quote that is not closed; with an operator it is code.
  if (parts === null && /^[\p{L}\p{N}_.-]+(?:\[[^\]\s+*,-]*\]?[\w.]*)+$/u.test(path) && !/\[(?:\w\]|\])/.test(path))
    return literal(written, null, 'indices and keys are written `{items[0].id}` and `{labels["app/name"]}`');
  if (parts === null || parsePath(inside) !== null) return null;
  const plain = printPath(parts);
  // A name without quotes may be a variable, if this is code.
  return /\[[A-Za-z_]/.test(path)
    ? literal(written, `{${plain}}`, 'keys in brackets have double quotes')
    : repaired(`${written} is not a placeholder and is delivered literally`, plain);
}

/** Writes `["a"]` for `['a']` and, if it has two letters or more, for `[a]`. */
const quoteKeys = (path: string): string =>
  path.replace(/\[(?:'([^'\]]*)'|([A-Za-z_][\w./:-]+))\]/g, (_, quoted, bare) => `[${JSON.stringify(quoted ?? bare)}]`);

/** A path with a filter, a format, a default or a test behind it. */
function suffixed(path: string, written: string): Answer | null {
  const [, plain = '', sign, word, rest = ''] = SUFFIX.exec(path) ?? [];
  const mark = sign ?? word ?? '';
  const isOdd = isCertain(plain);
  const isSuffix = {
    '|': () => !FILTERS.test(plain) && (FILTERS.test(rest) || (isOdd && /^\w+\b(?!\|)/.test(rest))),
    ':': () => plain === '__raw__' || FORMAT.test(rest) || (plain.includes('.') && isOdd && /^-?[\w%]/.test(rest)),
    '!': () => /^[rsa]$/.test(rest) || (isOdd && rest === ''),
    '?': () => isOdd && rest === '',
    '??': () => true,
    '||': () => isOdd || /\s\|\|\s/.test(path),
  }[mark];
  return (isSuffix?.() ?? (mark !== '' && isOdd)) ? literal(written, `{${plain}}`, NO_FILTERS) : null;
}

const SUFFIX = new RegExp(`^(${PATH})(?:\\s*(\\?\\?|\\|\\|?|[:?!])|\\s+(or)\\b)\\s*(.*)$`);
/** Formats of Python that are not values of CSS or JSON. */
const FORMAT = /^(?:[<>^=]\d+|0\d+|,|\d*\.\d+(?=[eEfFgG]$))[bcdeEfFgGnoxX]?$|^\d+[dfgx]$|^%[A-Za-z]/;

/** Names that begin with a sign: `{$name}`, `{@odata.id}`, `{%name%}`, `{#number}`, and what only a block has. */
function special(inside: string, { 0: written, index, input }: RegExpExecArray): Answer | null {
  if (/^@index$|^@root[.[]/.test(inside))
    return literal(written, null, 'it has a meaning only between `{#each path}` and `{/each}`');
  const [, sign = '', name = ''] = /^([$@#%])([\p{L}_][\p{L}\p{N}_.-]*[\p{L}\p{N}_])%?$/u.exec(inside) ?? [];
  // The name of a heading in Markdown.
  if (name === '' || (sign === '#' && /(?:^|\n)#.*$/.test(input.slice(0, index)))) return null;
  const key = `{${printPath([inside])}}`;
  return literal(
    written,
    null,
    `the placeholder of the field \`${name}\` is \`{${name}}\`, of the key \`${inside}\` \`${key}\``,
  );
}

const CALL = new RegExp(`^(?:count|json|len|length|lower|size|str|toJson|trim|upper)\\( *(${PATH}) *\\)$`, 'i');

/** `{len(a)}`, `{$a->b}`, `{"a.b"}`: a value as in a program. */
function inCode(text: string, written: string): Answer | null {
  const [, argument] = CALL.exec(text) ?? [];
  if (argument !== undefined) return literal(written, `{${argument}}`, NO_FILTERS);
  if (/^\$?[A-Za-z_]\w*(?:->[A-Za-z_]\w*)+$/.test(text))
    return literal(
      written,
      `{${text.replace('$', '').replaceAll('->', '.')}}`,
      'the parts of a path are joined with dots',
    );
  const [, , key] = /^(["'])([\w@$-]+[./:@][\w@$./:-]*)\1$/.exec(text) ?? [];
  return key === undefined
    ? null
    : literal(written, null, `a path has no quotes: \`{${key}}\`; a key with a dot is \`{${printPath([key])}}\``);
}

/** A path whose keys have slashes, colons, letters of other languages: `{labels.app/name}`. */
function oddKey(path: string, written: string): Answer | null {
  const [first = '', ...rest] = path.split('.');
  // One word of another language, which no path could be.
  if (/^(?=.*[^\p{ASCII}])\p{L}[\p{L}\p{N}_-]+$/u.test(path))
    return literal(written, null, `keys with other characters are quoted: \`{${printPath([path])}}\``);
  const isKey = (part: string): boolean => /^[\p{L}\p{N}_@$:/#-]*[\p{L}][\p{L}\p{N}_@$:/#?-]*$/u.test(part);
  if (rest.length === 0 || parsePath(path) !== null || ![first, ...rest].every(isKey)) return null;
  if (/:[/.]|\w@|^[/#:]|\/$|^\p{L}\.\p{L}$/u.test(path) || first.includes('/')) return null;
  const whole = printPath([first, rest.join('.')]);
  const split = printPath([first, ...rest]);
  const either = whole === split ? `\`{${whole}}\`` : `\`{${whole}}\` or \`{${split}}\``;
  return literal(written, null, `keys with other characters are quoted: ${either}`);
}

/** The answer for a field of a filter or a time that no payload has; null if one may. */
export function readForeignField(field: string): Answer | null {
  const all = elementsOf(field);
  if (all !== null) {
    const where = all.rest === '' ? '.' : all.rest;
    return {
      message: `\`${field}\` is read as the names of keys, not as all elements of a list`,
      hint: `to test the elements, write \`{ any_of: ${all.list}, where: { field: ${where}, … } }\``,
    };
  }
  const [, name] = /^(?:header[.[]["']?(?!token$)|request\.headers?[.[]["']?)([a-z\d-]+)["']?\]?$/i.exec(field) ?? [];
  if (name !== undefined)
    return { message: `\`${field}\` is a field of the payload`, hint: `the header is \`headers.${name}\`` };
  const [, path = field] = /^(?:\$\{)?([\w.[\]]+)\s*(?:\|.*|\(\)|\})$/.exec(field) ?? [];
  const parts = parsePath(quoteKeys(path));
  const [first = '', ...rest] = field.split('.');
  if (parts !== null && path + quoteKeys(path) !== field + field)
    return { message: `\`${field}\` is read as the names of keys`, hint: `write \`${printPath(parts)}\`` };
  if (parts === null && /[[\]{}"]|^\*\./.test(field))
    return {
      message: `\`${field}\` is not a path`,
      hint: /\[-\d/.test(field)
        ? 'elements are counted from the start: `items[0].id`'
        : /\[\?|^\*/.test(field)
          ? 'to test the elements of a list, write `{ any_of: items, where: { field: name, … } }`'
          : 'keys with other characters are quoted: `labels["app/name"]`',
    };
  // The keys of Kubernetes and others are a domain, a slash and a word.
  const key = /\.\w+\.(?:ai|app|cloud|co|com|dev|io|net|org|sh)\/\S+$/.test(field) ? [first, rest.join('.')] : [field];
  if (rest.length > 0 && (key.length > 1 || /^[@$]/.test(first)))
    return { message: `\`${field}\` names ${rest.length + 1} keys`, hint: `one key is \`${printPath(key)}\`` };
  return null;
}
