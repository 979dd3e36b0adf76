/**
 * Text in braces that is not an attempt at a placeholder: prose, choices, lists, JSON, CSS, code, globs, mathematics. What has none of
 * these forms is one. A form is read from the text with `w` for each word, `n` for each number and `s` for each quoted text.
 */

const TOKENS = /("[^"]*"|'[^']*'|“[^”]*”)|([\p{L}_][\p{L}\p{N}\p{M}_]*(?:[-’'][\p{L}\p{N}_]+)*)|(\d+(?:\.\d+)*)/gu;

const formOf = (text: string): string =>
  text.replace(TOKENS, (_, quoted, word) => (quoted !== undefined ? 's' : word !== undefined ? 'w' : 'n'));

/** Abbreviations, addresses, and names of files and hosts, which count as words of prose. */
const DOTTED_WORD =
  /\b(?:e\.g|i\.e|[ap]\.m|u\.[ks]|z\.b|d\.h)\b\.?|\b(?:vs|cf|approx|incl|resp)\.(?=\s)|[\w.+-]+@[\w-]+(?:\.[\w-]+)+|[\w*-]+(?:[./][\w*-]+)*\.(?:com|conf|cpp|css|csv|env|go|html?|ini|java|jpe?g|jsx?|json|lock|log|md|mjs|net|org|pdf|png|py|rb|rs|sh|sql|svg|toml|tsx?|txt|xml|ya?ml)\b(?![.[(])/gi;

/** Filters of Jinja, Liquid, Twig and Go that are not ordinary words: `{approve|reject}` is a choice. */
const FILTERS =
  /^(?:capitali[sz]e|date:|default\b|downcase|escape|first$|from_?json|join\b|last$|length|lower(?:case)?|map\b|nl2br|replace\b|round|size$|split\b|strip(?:_?html)?|striptags|titlecase|to_?json|to_?string|trim|truncate(?:words)?|upcase|upper(?:case)?|url_?encode|wordcount)\b|^\w+\s*[(:]\s*['"\d.]/i;

/** Formats of Python that are not values of CSS or JSON. */
const FORMAT = /^(?:[<>^=]\d+|0\d+|,|\d*\.\d+(?=[eEfFgG]$))[bcdeEfFgGnoxX]?$|^\d+[dfgx]$|^%[A-Za-z]/;

/** A line of a program, apart from what is in its braces. */
const CODE_LINE =
  /=>|\b(?:if|for|while|switch|catch)\s*\([^()]*\)\s*\{|\b(?:const|let|var|import|export)\s*\{|\b(?:const|let|var|type|interface|class|struct|enum|fn|func|function|def)\s+\w+\s*[={(<:]|\}\s*=\s*\{|;[ \t]*$|^\s*f["']/;

/** A chunk of prose: a word or several joined ones, a number, or a sign between two of them. */
const CHUNK =
  /^(?:[("'“‘~<]?-{0,2}(?:[#$€£]n|[wns]+)(?:[-/&’'][wns]+)*(?:\(w\))?[)"'”’.,;:!?…%+>]*|[-–—&+,;:…<>=*/^!@]+)$/;

const isPair = (form: string, text: string): boolean =>
  /^(?:[wsn]\s*\??:(?:\s|$|[-.]?n|[s[({#!"'<])|s\s*:)|^[ws]:[^,]+,\s*[ws]:/.test(form) &&
  !FORMAT.test(text.replace(/^\w+:/, '').trim()) &&
  !text.startsWith('__raw__');

/** `{name:string}` describes a pair, `{color:red}` is CSS, `{HH:mm}` a time. */
const FORMAT_WORDS =
  /^\s*(?:(?:key|name|field|attr\w*|prop\w*|option|label|background|border|color|content|cursor|display|float|font|height|margin|overflow|padding|position|width)\s*:|\w+\??:(?:value|string|number|int(?:eger)?|bool(?:ean)?|text|type|any|null|object|array)\b)|^(?=.*[A-Za-z]{2})[YyMDdHhmsSZT:/., -]+$/;

/** Choices of words. Words that prose does not have, such as `full_name` or `x`, are keys. */
const isWord = (word: string): boolean => /^(?:\p{L}[\p{L}'’-]+|[yani]|\d+|"[^"]*")$/u.test(word.trim());
function isChoice(form: string, text: string): boolean {
  const [first = '', second = '', third] = text.split(/[|/]/);
  const hasFilter =
    text.includes('|') && third === undefined && !FILTERS.test(first.trim()) && FILTERS.test(second.trim());
  if (hasFilter || text.includes('||')) return false;
  const isOfFilters = text.split('|').some((part, at) => at > 0 && / /.test(part.trim()) && FILTERS.test(part.trim()));
  if (/^[wns](?: w)*(?:\s*\|\s*[wns](?: w)*)+$/.test(form) && !isOfFilters)
    return third !== undefined || !/[_.]/.test(first);
  return /^w(?:\/w)+$/.test(form) && text.split('/').every(isWord);
}

/** `{for a in b}`, `{lookup a 0}`: calls without a sign. */
const CALL_OF_WORDS =
  /^(?:for(?:each)?\s+\w+\s+in\s+\w+|(?:lookup|index|len|printf?|to_?json|eq|ne)\s+\w+(?:\s+\S+)?)$/i;

function isProse(form: string, text: string): boolean {
  const chunks = form.split(/\s+/);
  // `{a. b}` is not a sentence.
  if (/^[a-z_][\w-]*(?:\s*\.\s*[a-z_][\w-]*)+$/.test(text) || CALL_OF_WORDS.test(text)) return false;
  return chunks.length > 1 && chunks.every((chunk) => CHUNK.test(chunk)) && /[wn]/.test(form);
}

/** By form: nothing to read, unless it reads all or one of something (`{*}`, `{[]}`, `{$1}`); lists; a choice of a program. */
const BY_FORM: readonly RegExp[] = [
  /^(?!(?:[.$@*]|\.?\[[n*]?\]|\$n?|n\.)$)[^ws]*$/,
  /^(?=.*,)(?:\s*(?:[wns]\s*)*[.!?…]*(?:,|$))+$/,
  /^w \? w : w$/,
];

/** By text: assignments, calls of functions, statements; markup, TeX, addresses, flags, ranges; types; globs; sets; languages; questions. */
const BY_TEXT: readonly RegExp[] = [
  /^(?!=).*(?:=>|&&|(?<![=!<>~:?])=(?![=~>]))/,
  /^(?:return|print|throw|break|continue|yield|await|new|echo|let|const|var)\b/,
  /<\/?\w|\\|:\/\/|^--?\w|^\*\*\w|^\.\.\.|\w(?:\.\.\.|…)$|^:\s|^@\w+\s|^\w\.\.\w$|^\$.*\$$/,
  /^(?:string|number|bool(?:ean)?|any|int|char|byte|object|unknown|void)\[\]$/,
  /^[\w.*?/!@,[\]-]*(?:\*\*|\/\*|\*\/)[\w.*?/!@,[\]-]*$/,
  /^\w+\s*[|:]\s*\w+\s*[<>=≤≥∈]/,
  /^\p{L}+(?:\(e?s\)|!)$|^!important$|^(?:[A-Z]\+\+|[A-Z]#|g\+\+)$/u,
  /^(?:who|what|when|where|why|how|which|really|ok(?:ay)?|yes|no)\?$/i,
  FORMAT_WORDS,
];

const NEAR = 400;

/** Whether the text in braces may be something else than an attempt at a placeholder. */
export function isOtherText(inside: string, { index, input, 0: written }: RegExpExecArray): boolean {
  // Bounded, so that a long text costs no more for each of its braces.
  const before = input.slice(Math.max(0, index - NEAR), index);
  const line = before.slice(before.lastIndexOf('\n') + 1) + input.slice(index, index + NEAR).split('\n', 1)[0];
  const raw = inside.trim();
  const text = raw.replace(DOTTED_WORD, 'w');
  const form = formOf(text);
  const [, filter = ''] = /^[\w.[\]"]+\s*\|\s*(.*)/.exec(text) ?? [];
  return (
    isPlaced(text, before, line) ||
    // A block of a program, and a member of an object.
    (written.includes('\n') && !/^[\w$@]*[.[][\w.[\]"']*$/.test(raw)) ||
    (/^ [\w, ]+ $/.test(inside) && /[=(]\s*$/.test(before)) ||
    (CODE_LINE.test(line) && !FILTERS.test(filter)) ||
    // A file or an address alone; a statement; a value of CSS.
    (form === 'w' && text !== raw) ||
    (text.includes(';') && !written.startsWith('{{')) ||
    (/^\w+:\w+$/.test(text) && /[\w\])*"']$/.test(before)) ||
    BY_FORM.some((pattern) => pattern.test(form)) ||
    BY_TEXT.some((pattern) => pattern.test(text)) ||
    isPair(form, text) ||
    isChoice(form, text) ||
    isProse(form, text)
  );
}

/** TeX (`\frac{a}`, `x^{n+1}`), the shell (`${HOME:-x}`), templates of URLs (`/users{/user}`), and attributes of a heading. */
function isPlaced(text: string, before: string, line: string): boolean {
  if (/\\[A-Za-z]+\*?(?:\[[^\]]*\])?(?:\{[^{}]*\})*$|[_^]$/.test(before)) return true;
  if (/[$]$/.test(before)) return /^[#!]?[A-Z_0-9]+\b/.test(text) || /^#\w+$/.test(text);
  if (/^[/?&+;#.]\w+(?:,\w+)*\*?$/.test(text) && /[\w}/]$/.test(before)) return true;
  return /^\s*#/.test(line) && /^[#.:]/.test(text);
}
