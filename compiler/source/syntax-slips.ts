/** Recognises lines that are invalid YAML because of a small mistake: a value that needs quotes, a colon without a space. */
import type { TextEdit } from '../diagnostics/diagnostic.ts';
import { knownKeys } from '../schema/known-keys.ts';

export interface SyntaxSlip {
  readonly message: string;
  /** Offsets are relative to the line. */
  readonly edits: readonly TextEdit[];
}

interface LineRow {
  /** The group `wrong` is replaced; without it there is no repair. */
  readonly line: RegExp;
  readonly write?: string;
  /** `$name` is the text of that group. */
  readonly message: string;
}

const LINES: readonly LineRow[] = [
  {
    line: /^(?:<{7} |={7}$|>{7} )/,
    message: 'this is an unresolved merge conflict: keep one of the two sides, and remove the three markers',
  },
  { line: /^\s*(?<wrong>\/\/)/d, write: '#', message: 'comments begin with `#`: write it instead of `//`' },
  {
    line: /^\s*(?:- +)*[\w-]+(?<wrong>：\s*)/d,
    write: ': ',
    message: 'this colon is the full-width `：`: write `:` and a space',
  },
  {
    line: /:\s+!include(?:_\w+)?\s/,
    message:
      'a file is not included with a tag: write `include: [path.yaml]` at the top level; that file has the whole path, from `platforms:` on',
  },
  {
    line: /^\s*(?:- +)*[A-Za-z_][\w-]*:(?<wrong>)(?=["'{[])/d,
    write: ' ',
    message: 'a space is missing after the `:`',
  },
  // A text that is not a variable name may be a secret.
  {
    line: /^\s*(?:- +)*[\w-]+: +(?<kind>env|file):(?<wrong> +)(?:(?<name>[A-Z_][A-Z0-9_]*)|\S+)\s*$/d,
    write: '',
    message: 'no space follows the colon of a reference: write `$kind:$name`',
  },
  {
    line: /^\s*(?:- +)*[\w-]+: +(?<wrong>!env(?:_var)? +)(?<name>[A-Z_][A-Z0-9_]*)\s*$/di,
    write: 'env:',
    message: 'a reference is not a tag: write `env:$name`',
  },
];

/** Returns null if the line contains no known mistake. */
export function findSyntaxSlip(line: string): SyntaxSlip | null {
  for (const row of LINES) {
    const slip = inRow(row, line);
    if (slip !== null) return slip;
  }
  return quoteInside(line) ?? missingQuotes(line) ?? missingColon(line);
}

function inRow({ line, write: text = '', message }: LineRow, written: string): SyntaxSlip | null {
  const found = line.exec(written);
  if (found === null) return null;
  const [start, end] = found.indices?.groups?.wrong ?? [];
  return {
    message: message.replace(/\$(\w+)/g, (_, name: string) => found.groups?.[name] ?? name.toUpperCase()),
    edits: start === undefined || end === undefined ? [] : [{ range: { start, end }, text }],
  };
}

/** `prompt Hello`. Any other word may be part of the text above. */
function missingColon(line: string): SyntaxSlip | null {
  const [, key = ''] = /^\s*(?:- +)?([a-z_]+) [^:]*$/.exec(line) ?? [];
  const places = ['', 'platforms.webhook', 'platforms.webhook.routes.x', 'platforms.x', 'agent', 'jobs.x'];
  if (!places.some((place) => knownKeys('config', place.split('.').filter(Boolean)).includes(key))) return null;
  const message = `a \`:\` is missing: put it behind \`${key}\``;
  return inRow({ line: /^\s*(?:- +)?[a-z_]+(?<wrong>)/d, write: ':', message }, line);
}

/** Indentation and dashes, key, value, comment. */
const LINE = /^(\s*(?:- +)*(?:[\w.-]+|"[^"]*"|'[^']*'): +)(.*?)(\s+#.*|\s*)$/;

/** `prompt: 'it's open'` */
function quoteInside(line: string): SyntaxSlip | null {
  const [, before = '', value = ''] = LINE.exec(line) ?? [];
  const quote = /^(["']).+\1$/.exec(value)?.[1];
  if (quote === undefined) return null;
  const [name, inside, mark] = quote === "'" ? ['single', /(?<!')'(?!')/g, "'"] : ['double', /(?<!\\)"/g, '\\'];
  const starts = [...value.slice(1, -1).matchAll(inside)].map(({ index }) => before.length + 1 + index);
  if (starts.length === 0) return null;
  return {
    message: `a text in ${name} quotes ends at the next \`${quote}\`: write \`${mark}${quote}\` for each one inside it`,
    edits: starts.map((start) => ({ range: { start, end: start }, text: mark })),
  };
}

const COLON_INSIDE = 'a value with `: ` in it is read as a key and a value';

/** Starts of values that YAML does not read as text, by reason. */
const NEEDS_QUOTES: readonly (readonly [RegExp, string])[] = [
  [/^\{(?:\{|[\w.-]+\}\s*[^\s,}])/, 'a value that begins with `{` is a YAML map'],
  [/^\*/, 'a value that begins with `*` is a YAML alias'],
  [/^@/, 'no YAML value may begin with `@`'],
  [/^`/, 'no YAML value may begin with a backtick'],
  [/^%/, 'no YAML value may begin with `%`'],
  [/^\[[^\]]*\]\s*[^\s,\]]/, 'a value that begins with `[` is a YAML list'],
  [/^[^\s"'|>&!{[][^:]*\s[^:]*: /, COLON_INSIDE],
];

function missingQuotes(line: string): SyntaxSlip | null {
  const [, before = '', value = ''] = LINE.exec(line) ?? [];
  const [, why] = NEEDS_QUOTES.find(([start]) => start.test(value)) ?? [
    null,
    // The value of these keys is always text.
    /\b(?:prompt|description): +$/.test(before) && /^[^\s"'|>&!{[][^:]*: /.test(value) ? COLON_INSIDE : undefined,
  ];
  if (why === undefined) return null;
  const message = `${why}: put the whole value in quotes`;
  const quote = ['"', "'"].find((each) => !value.includes(each) && !(each === '"' && value.includes('\\')));
  const ends = quote === undefined ? [] : [before.length, before.length + value.length];
  return { message, edits: ends.map((start) => ({ range: { start, end: start }, text: quote ?? '' })) };
}
