/** Recognises lines that are invalid YAML because of a small mistake: a value that needs quotes, a colon without a space. */
import type { TextEdit } from '../diagnostics/diagnostic.ts';
import { knownKeys } from '../schema/known-keys.ts';

export interface SyntaxSlip {
  readonly message: string;
  /** Offsets are relative to the line. */
  readonly edits: readonly TextEdit[];
}

/** Indentation and dashes, key, value, comment. */
const LINE = /^(\s*(?:- +)*(?:[\w.-]+|"[^"]*"|'[^']*'): +)(.*?)(\s+#.*|\s*)$/;

const COLON_INSIDE = 'a value with `: ` in it is read as a key and a value';

/** Starts of values that YAML does not read as text. */
const NEEDS_QUOTES: readonly { readonly value: RegExp; readonly why: string }[] = [
  { value: /^\{[\w.-]+\}\s*[^\s,}]/, why: 'a value that begins with `{` is a YAML map' },
  { value: /^\{\{/, why: 'a value that begins with `{` is a YAML map' },
  { value: /^\*/, why: 'a value that begins with `*` is a YAML alias' },
  { value: /^@/, why: 'no YAML value may begin with `@`' },
  { value: /^`/, why: 'no YAML value may begin with a backtick' },
  { value: /^%/, why: 'no YAML value may begin with `%`' },
  { value: /^\[[^\]]*\]\s*[^\s,\]]/, why: 'a value that begins with `[` is a YAML list' },
  { value: /^[^\s"'|>&!{[][^:]*\s[^:]*: /, why: COLON_INSIDE },
];

/** Returns null if the line contains no known mistake. */
export function findSyntaxSlip(line: string): SyntaxSlip | null {
  return (
    unfinishedMerge(line) ??
    slashComment(line) ??
    fullWidthColon(line) ??
    includeTag(line) ??
    missingSpace(line) ??
    spaceInReference(line) ??
    tagForReference(line) ??
    quoteInside(line) ??
    missingQuotes(line) ??
    missingColon(line)
  );
}

/** `secret: env: NAME` */
function spaceInReference(line: string): SyntaxSlip | null {
  const [, before = '', kind = '', space = '', name = ''] =
    /^(\s*(?:- +)*[\w-]+: +)(env|file):( +)(\S+)\s*$/.exec(line) ?? [];
  if (before === '') return null;
  const start = before.length + kind.length + 1;
  // A text that is not a variable name may be a secret.
  const shown = /^[A-Z_][A-Z0-9_]*$/.test(name) ? `: write \`${kind}:${name}\`` : '';
  return {
    message: `no space follows the colon of a reference${shown}`,
    edits: [{ range: { start, end: start + space.length }, text: '' }],
  };
}

/** `secret: !env NAME`, as in other tools. */
function tagForReference(line: string): SyntaxSlip | null {
  const [, before = '', tag = '', name = ''] =
    /^(\s*(?:- +)*[\w-]+: +)(!env(?:_var)? +)([A-Z_][A-Z0-9_]*)\s*$/i.exec(line) ?? [];
  if (before === '') return null;
  const range = { start: before.length, end: before.length + tag.length };
  return { message: `a reference is not a tag: write \`env:${name}\``, edits: [{ range, text: 'env:' }] };
}

/** Conflict markers of git. */
function unfinishedMerge(line: string): SyntaxSlip | null {
  if (!/^(?:<{7} |={7}$|>{7} )/.test(line)) return null;
  return {
    message: 'this is an unresolved merge conflict: keep one of the two sides, and remove the three markers',
    edits: [],
  };
}

/** `// a comment` */
function slashComment(line: string): SyntaxSlip | null {
  const [, before] = /^(\s*)\/\//.exec(line) ?? [];
  if (before === undefined) return null;
  const range = { start: before.length, end: before.length + 2 };
  return { message: 'comments begin with `#`: write it instead of `//`', edits: [{ range, text: '#' }] };
}

/** `prompt： Hello`, as some keyboards write it. */
function fullWidthColon(line: string): SyntaxSlip | null {
  const [found, key = ''] = /^(\s*(?:- +)*[\w-]+)：\s*/.exec(line) ?? [];
  if (found === undefined) return null;
  const range = { start: key.length, end: found.length };
  const text = found.length === line.length ? ':' : ': ';
  return { message: 'this colon is the full-width `：`: write `:` and a space', edits: [{ range, text }] };
}

/** `routes: !include routes.yaml`, as in other tools. */
function includeTag(line: string): SyntaxSlip | null {
  if (!/:\s+!include(?:_\w+)?\s/.test(line)) return null;
  const message =
    'a file is not included with a tag: write `include: [path.yaml]` at the top level; that file has the whole path, from `platforms:` on';
  return { message, edits: [] };
}

/** The known keys of a config, at any level. */
const KEYS: ReadonlySet<string> = new Set(
  [
    [],
    ['platforms', 'webhook'],
    ['platforms', 'webhook', 'routes', 'x'],
    ['platforms', 'x'],
    ['agent'],
    ['jobs', 'x'],
  ].flatMap((path) => knownKeys('config', path)),
);

/** `prompt Hello` */
function missingColon(line: string): SyntaxSlip | null {
  const [, key] = /^(\s*(?:- +)?[a-z_]+)(?= [^:]*$)/.exec(line) ?? [];
  // Any other word may be part of the text above.
  if (key === undefined || !KEYS.has(key.replace(/^[\s-]+/, ''))) return null;
  const range = { start: key.length, end: key.length };
  return {
    message: `a \`:\` is missing: put it behind \`${key.replace(/^[\s-]+/, '')}\``,
    edits: [{ range, text: ':' }],
  };
}

function missingSpace(line: string): SyntaxSlip | null {
  const [before] = /^\s*(?:- +)*[A-Za-z_][\w-]*:(?=["'{[])/.exec(line) ?? [];
  if (before === undefined) return null;
  const range = { start: before.length, end: before.length };
  return { message: 'a space is missing after the `:`', edits: [{ range, text: ' ' }] };
}

/** `prompt: 'it's open'` */
function quoteInside(line: string): SyntaxSlip | null {
  const [, before = '', value = ''] = LINE.exec(line) ?? [];
  const [quote] = value;
  if ((quote !== "'" && quote !== '"') || value.length < 3 || !value.endsWith(quote)) return null;
  const unescaped = quote === "'" ? /(?<!')'(?!')/g : /(?<!\\)"/g;
  const inside = [...value.slice(1, -1).matchAll(unescaped)].map(({ index }) => before.length + 1 + index);
  if (inside.length === 0) return null;
  const [message, text] =
    quote === "'"
      ? ["a text in single quotes ends at the next `'`: write `''` for each one inside it", "'"]
      : ['a text in double quotes ends at the next `"`: write `\\"` for each one inside it', '\\'];
  return { message, edits: inside.map((start) => ({ range: { start, end: start }, text })) };
}

/** Keys whose value is always text. */
const TEXT_KEY = /\b(?:prompt|description): +$/;

function missingQuotes(line: string): SyntaxSlip | null {
  const [, before = '', value = ''] = LINE.exec(line) ?? [];
  const found =
    NEEDS_QUOTES.find((each) => each.value.test(value)) ??
    (TEXT_KEY.test(before) && /^[^\s"'|>&!{[][^:]*: /.test(value) ? { why: COLON_INSIDE } : undefined);
  const quote = !/["\\]/.test(value) ? '"' : value.includes("'") ? null : "'";
  if (found === undefined) return null;
  const message = `${found.why}: put the whole value in quotes`;
  if (quote === null) return { message, edits: [] };
  const [start, end] = [before.length, before.length + value.length];
  return {
    message,
    edits: [
      { range: { start, end: start }, text: quote },
      { range: { start: end, end }, text: quote },
    ],
  };
}
