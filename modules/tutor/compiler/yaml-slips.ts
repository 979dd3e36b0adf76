/** Explains invalid YAML: a value that needs quotes, a colon without a space, a quote or bracket that is not closed, typographic quotes. */
import type { Document, YAMLError } from 'yaml';
import { visit } from 'yaml';
import { applyEdits } from '../../../compiler/diagnostics/apply-edits.ts';
import type { Finding, TextEdit } from '../../../compiler/diagnostics/diagnostic.ts';
import { knownKeys } from '../../../compiler/schema/known-keys.ts';
import type { ExplainedSyntax, ExplainSyntax } from '../../../compiler/source/parse-yaml.ts';
import { inWords, YAML_OPTIONS } from '../../../compiler/source/parse-yaml.ts';
import { parseBounded } from '../../../compiler/text/bounded-yaml.ts';
import type { Range } from '../../../compiler/text/source-text.ts';
import { LINES } from './built/yaml-lines.ts';

/** A mistake is recognised only if its repair makes the text valid up to there. */
export const explainSyntax: ExplainSyntax = (error, source, document) => {
  const { text } = source;
  const start = Math.min(error.pos[0], text.length);
  return (
    openEndAt(text, document, error) ??
    slipInLine(text, text.lastIndexOf('\n', start - 1) + 1) ??
    inWords(error, source, document)
  );
};

function complaints(text: string): readonly YAMLError[] {
  const { errors, warnings } = parseBounded(text, YAML_OPTIONS);
  return [...errors, ...warnings];
}

function openEndAt(text: string, document: Document, error: YAMLError): ExplainedSyntax | null {
  const open = findOpenEnd(text, document, error);
  if (open === null) return null;
  const { fix, ...words } = open;
  const isFixed = fix.length > 0 && complaints(applyEdits(text, fix)).every(({ pos }) => pos[0] > error.pos[0] + 1);
  return isFixed ? open : words;
}

function slipInLine(text: string, lineStart: number): ExplainedSyntax | null {
  const lineEnd = text.indexOf('\n', lineStart);
  const end = lineEnd < 0 ? text.length : lineEnd;
  const slip = findSyntaxSlip(text.slice(lineStart, end).replace(/\r$/, ''));
  if (slip === null || slip.edits.length === 0) return slip && { message: slip.message };
  const fix = slip.edits.map((edit) => ({ ...edit, range: shifted(edit.range, lineStart) }));
  const mended = applyEdits(text.slice(0, end), fix);
  return complaints(mended).some(({ pos }) => pos[0] >= lineStart) ? null : { message: slip.message, fix };
}

const shifted = ({ start, end }: Range, by: number): Range => ({ start: start + by, end: end + by });

interface SyntaxSlip {
  readonly message: string;
  /** Offsets are relative to the line. */
  readonly edits: readonly TextEdit[];
}

/** Returns null if the line contains no known mistake. */
function findSyntaxSlip(line: string): SyntaxSlip | null {
  for (const { pattern, message, write } of LINES) {
    const slip = inRow(new RegExp(pattern, 'd'), message, write, line);
    if (slip !== null) return slip;
  }
  return quoteInside(line) ?? missingQuotes(line) ?? missingColon(line);
}

/** @param pattern its group `wrong` is replaced by `text`; without it there is no repair @param message `$name` is the text of a group */
function inRow(pattern: RegExp, message: string, text: string, line: string): SyntaxSlip | null {
  const match = pattern.exec(line);
  if (match === null) return null;
  const [start, end] = match.indices?.groups?.wrong ?? [];
  return {
    message: message.replace(/\$(\w+)/g, (_, name: string) => match.groups?.[name] ?? name.toUpperCase()),
    edits: start === undefined || end === undefined ? [] : [{ range: { start, end }, text }],
  };
}

/** `prompt Hello`. Any other word may be part of the text above. */
function missingColon(line: string): SyntaxSlip | null {
  const [, key = ''] = /^\s*(?:- +)?([a-z_]+) [^:]*$/.exec(line) ?? [];
  const places = ['', 'platforms.webhook', 'platforms.webhook.routes.x', 'platforms.x', 'agent', 'jobs.x'];
  if (!places.some((place) => knownKeys('config', place.split('.').filter(Boolean)).includes(key))) return null;
  return inRow(/^\s*(?:- +)?[a-z_]+(?<wrong>)/d, `a \`:\` is missing after \`${key}\``, ':', line);
}

/** Indentation and dashes, key, value, comment. */
const LINE = /^(\s*(?:- +)*(?:[\w.-]+|"[^"]*"|'[^']*'): +)(.*?)(\s+#[^{]*|\s*)$/;

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

interface OpenEnd {
  readonly range: Range;
  readonly message: string;
  /** Closes a quote at the end of its line, unless a comment may follow the text. */
  readonly fix: readonly TextEdit[];
}

const NOT_CLOSED = /^(?:Missing closing (["'])quote|Flow (sequence|map) in block collection)/;

const COMMENT = /(?<=\s)#.*/g;

/** Returns null if the parser's error has another cause. */
function findOpenEnd(text: string, document: Document, { message, pos }: YAMLError): OpenEnd | null {
  const [found, quote, kind] = NOT_CLOSED.exec(message) ?? [];
  if (found === undefined) return null;
  const [open, close] = kind === 'map' ? ['{', '}'] : ['[', ']'];
  const start =
    quote === undefined
      ? lastOpen(
          text.slice(0, pos[0]).replace(COMMENT, (comment) => ' '.repeat(comment.length)),
          open,
          close,
        )
      : lastQuote(document, text, quote, pos[0]);
  if (start < 0) return null;
  if (quote === undefined) {
    const asText = kind === 'map' ? ', or put the value in quotes if it is text' : '';
    const isCut = new RegExp(`^.*${COMMENT.source}.*\\${close}`).test(text.slice(start));
    const said = isCut
      ? `this \`${open}\` is not closed, because \` #\` begins a comment: put the text with it in quotes`
      : `this \`${open}\` is not closed: put \`${close}\` where it ends${asText}`;
    return { range: { start, end: start + 1 }, message: said, fix: [] };
  }
  const written = /.*/.exec(text.slice(start))?.[0].trimEnd() ?? '';
  const end = start + written.length;
  return {
    range: { start, end },
    message: `the quote that begins here is not closed: put \`${quote}\` at the end of the text`,
    fix: / #/.test(written) ? [] : [{ range: { start: end, end }, text: quote }],
  };
}

/** Offset of the last bracket without its counterpart; -1 if there is none. It reads the text, because nodes may be nested deeply. */
function lastOpen(text: string, open: string, close: string): number {
  let depth = 0;
  for (let at = text.length - 1; at >= 0; at -= 1) {
    if (text[at] === close) depth += 1;
    else if (text[at] === open && depth === 0) return at;
    else if (text[at] === open) depth -= 1;
  }
  return -1;
}

/** Start of the last scalar in such quotes before this offset; -1 if there is none. */
function lastQuote(document: Document, text: string, quote: string, before: number): number {
  let start = -1;
  visit(document, {
    Scalar(_, { range }) {
      const from = range?.[0] ?? -1;
      if (text[from] === quote && from < before) start = Math.max(start, from);
    },
  });
  return start;
}

/** Typographic quotes around a value. @param finding its range is the value */
export function straightQuotes(finding: Finding): Finding {
  const { source, range } = finding;
  const written = source.text.slice(range.start, range.end);
  const quote = straightFor(written.slice(1, -1));
  const { hint: _, ...others } = finding;
  const message = `${others.message}: use straight ones, ${quote ?? '"'}…${quote ?? '"'}`;
  return { ...others, message, ...(quote === null ? {} : { fix: straight(range, quote) }) };
}

/** Puts quotes around a text and its comment. @param finding its range is both */
export function aroundComment(finding: Finding): Finding {
  const { source, range } = finding;
  const quote = straightFor(source.text.slice(range.start, range.end));
  if (quote === null) return finding;
  return { ...finding, fix: [range.start, range.end].map((at) => ({ range: { start: at, end: at }, text: quote })) };
}

/** Returns null if the text contains both kinds of quotes. */
const straightFor = (text: string): '"' | "'" | null => (!/["\\]/.test(text) ? '"' : text.includes("'") ? null : "'");

const straight = ({ start, end }: Range, text: string): readonly TextEdit[] => [
  { range: { start, end: start + 1 }, text },
  { range: { start: end - 1, end }, text },
];
