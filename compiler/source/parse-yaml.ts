/** Parses a YAML (or JSON) file to plain data, and keeps its nodes, so that values can be located later. */
import type { Document, YAMLError } from 'yaml';
import { parseDocument } from 'yaml';
import { applyEdits } from '../diagnostics/apply-fixes.ts';
import type { Finding } from '../diagnostics/diagnostic.ts';
import type { Range, SourceText } from '../text/source-text.ts';
import { START } from '../text/source-text.ts';
import type { AliasTargets, YamlNode } from './build-value.ts';
import { buildValue } from './build-value.ts';
import type { OpenEnd } from './open-ends.ts';
import { findOpenEnd } from './open-ends.ts';
import { findSyntaxSlip } from './syntax-slips.ts';

export interface ParsedFile {
  readonly source: SourceText;
  /** Plain data: aliases share objects, and merge keys are applied. An empty file is an empty map. */
  readonly value: unknown;
  readonly root: YamlNode | null;
  readonly aliases: AliasTargets;
}

export interface ParseResult {
  /** Null if the text is not YAML, or if its aliases expand too far. */
  readonly file: ParsedFile | null;
  readonly findings: readonly Finding[];
}

/** Maximum number of errors, with at most one per line; later ones are usually consequences of the first. */
const MAX_SYNTAX_ERRORS = 5;

/** Never throws: syntax errors become findings. */
export function parseYaml(source: SourceText): ParseResult {
  try {
    return parse(source);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    // The parser is recursive, so a text nested some ten thousand levels deep overflows the stack.
    const finding: Finding = { rule: 'yaml-syntax', source, range: START, message: 'nested too deeply to be read' };
    return { file: null, findings: [finding] };
  }
}

function parse(source: SourceText): ParseResult {
  const document = parseDocument(source.text, OPTIONS);
  const found = [...document.errors, ...document.warnings];
  if (found.length > 0) return { file: null, findings: syntaxFindings(source, document, found) };
  const built = buildValue(source, document.contents);
  if (built.fatal) return { file: null, findings: built.findings };
  const file = { source, value: built.value, root: document.contents, aliases: built.aliases };
  return { file, findings: built.findings };
}

const OPTIONS = {
  // `buildValue` finds duplicate keys, in linear time and with both positions.
  uniqueKeys: false,
  stringKeys: true,
  prettyErrors: false,
  logLevel: 'error',
} as const;

function complaints(text: string): readonly YAMLError[] {
  const { errors, warnings } = parseDocument(text, OPTIONS);
  return [...errors, ...warnings];
}

function syntaxFindings(source: SourceText, document: Document, found: readonly YAMLError[]): readonly Finding[] {
  const lines = new Set<number>();
  const findings: Finding[] = [];
  for (const complaint of found.toSorted((a, b) => a.pos[0] - b.pos[0])) {
    const open = findOpenEnd(source.text, document, complaint);
    const start = Math.min(open?.range.start ?? complaint.pos[0], source.text.length);
    const line = source.text.lastIndexOf('\n', start - 1);
    if (lines.has(line) || findings.length === MAX_SYNTAX_ERRORS) continue;
    lines.add(line);
    const range = { start, end: Math.max(start, Math.min(complaint.pos[1], source.text.length)) };
    const said = open === null ? { range, ...explain(source, complaint, line + 1) } : closed(source, open, complaint);
    findings.push({ rule: 'yaml-syntax', source, ...said });
  }
  return findings;
}

/** Replacements for parser messages that mention its API or hide the usual cause. */
const SENTENCES: Partial<Record<YAMLError['code'], string>> = {
  MULTIPLE_DOCS: 'a second document starts here; put it into a separate file',
  NON_STRING_KEY: 'a key must be plain text',
  TAG_RESOLVE_FAILED: 'YAML tags (`!name`) have no meaning here; write the value without the tag',
  TAB_AS_INDENT: 'a tab is used for indentation; use spaces',
  BLOCK_AS_IMPLICIT_KEY:
    'this value cannot contain a map: check the indentation of the next line, or quote the value if it contains `: `',
  MULTILINE_IMPLICIT_KEY: 'a key must end on its line; a `:` may be missing after it, or a quote is not closed',
};

/** Explains a known mistake on the line if fixing it makes the text up to there valid; else returns the parser's message. */
function explain({ text }: SourceText, complaint: YAMLError, lineStart: number): Pick<Finding, 'message' | 'fix'> {
  const lineEnd = text.indexOf('\n', lineStart);
  const end = lineEnd < 0 ? text.length : lineEnd;
  const slip = findSyntaxSlip(text.slice(lineStart, end).replace(/\r$/, ''));
  if (slip === null) return { message: sentence(complaint) };
  const fix = slip.edits.map((edit) => ({ ...edit, range: shifted(edit.range, lineStart) }));
  const mended = applyEdits(text.slice(0, end), fix);
  if (fix.length > 0 && complaints(mended).some(({ pos }) => pos[0] >= lineStart))
    return { message: sentence(complaint) };
  return { message: slip.message, ...(fix.length === 0 ? {} : { fix }) };
}

/** Keeps the fix if the text is valid up to there when it is applied. */
function closed(
  { text }: SourceText,
  { fix, ...open }: OpenEnd,
  { pos: [at] }: YAMLError,
): Pick<Finding, 'range' | 'message' | 'fix'> {
  const isFixed = fix.length > 0 && complaints(applyEdits(text, fix)).every(({ pos }) => pos[0] > at + 1);
  return isFixed ? { ...open, fix } : open;
}

const shifted = ({ start, end }: Range, by: number): Range => ({ start: start + by, end: end + by });

/** The parser's error for a line that is neither a key with a value nor part of the value above. */
const NO_PAIR = /^Implicit map keys need to be followed by map values/;

const sentence = (complaint: YAMLError): string =>
  NO_PAIR.test(complaint.message)
    ? 'this line is not `key: value`: add the missing `:`, or write a multi-line text below `key: |`'
    : (SENTENCES[complaint.code] ?? complaint.message.charAt(0).toLowerCase() + complaint.message.slice(1));
