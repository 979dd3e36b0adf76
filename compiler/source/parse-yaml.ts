/** Parses one YAML (or JSON) file to plain data and keeps its nodes, so that every value can be located later. */
import type { YAMLError } from 'yaml';
import { parseDocument } from 'yaml';
import type { Finding } from '../diagnostics/diagnostic.ts';
import type { AliasTargets, YamlNode } from './build-value.ts';
import { buildValue } from './build-value.ts';
import type { SourceText } from './source-text.ts';
import { START } from './source-text.ts';

export interface ParsedFile {
  readonly source: SourceText;
  /** Plain data: aliases share objects, merge keys are applied. An empty file is an empty map. */
  readonly value: unknown;
  readonly root: YamlNode | null;
  readonly aliases: AliasTargets;
}

export interface ParseResult {
  /** null: the text is not YAML, or its aliases expand too far; nothing in it can be relied on. */
  readonly file: ParsedFile | null;
  readonly findings: readonly Finding[];
}

/** One error per line and not more than this many: what follows is mostly a consequence of the first. */
const MAX_SYNTAX_ERRORS = 5;

export function parseYaml(source: SourceText): ParseResult {
  try {
    return parse(source);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    // The parser recurses; a text nested some ten thousand levels deep exhausts its stack.
    const finding = { rule: 'yaml-syntax', source, range: START, message: 'nested too deeply to be read' };
    return { file: null, findings: [finding] };
  }
}

function parse(source: SourceText): ParseResult {
  const document = parseDocument(source.text, {
    // Keys are compared below, in linear time and with both places known.
    uniqueKeys: false,
    stringKeys: true,
    prettyErrors: false,
    logLevel: 'error',
  });
  const complaints = [...document.errors, ...document.warnings];
  if (complaints.length > 0) return { file: null, findings: syntaxFindings(source, complaints) };
  const built = buildValue(source, document.contents);
  if (built.fatal) return { file: null, findings: built.findings };
  const file = { source, value: built.value, root: document.contents, aliases: built.aliases };
  return { file, findings: built.findings };
}

function syntaxFindings(source: SourceText, complaints: readonly YAMLError[]): readonly Finding[] {
  const lines = new Set<number>();
  const findings: Finding[] = [];
  for (const complaint of complaints.toSorted((a, b) => a.pos[0] - b.pos[0])) {
    const start = Math.min(complaint.pos[0], source.text.length);
    const line = source.text.lastIndexOf('\n', start - 1);
    if (lines.has(line) || findings.length === MAX_SYNTAX_ERRORS) continue;
    lines.add(line);
    const range = { start, end: Math.max(start, Math.min(complaint.pos[1], source.text.length)) };
    findings.push({ rule: 'yaml-syntax', source, range, message: sentence(complaint) });
  }
  return findings;
}

/** The parser's own words, but for those that speak of its programming interface or hide the usual cause. */
const SENTENCES: Partial<Record<YAMLError['code'], string>> = {
  MULTIPLE_DOCS: 'a second document starts here; put it into a file of its own',
  NON_STRING_KEY: 'a key must be plain text',
  TAB_AS_INDENT: 'a tab is used for indentation; use spaces',
  BLOCK_AS_IMPLICIT_KEY:
    'this value cannot hold a map: check the indentation of the next line, or quote the value if it contains `: `',
  MULTILINE_IMPLICIT_KEY: 'a key must end on its line; a `:` may be missing after it, or a quote is not closed',
};

const sentence = (complaint: YAMLError): string =>
  SENTENCES[complaint.code] ?? complaint.message.charAt(0).toLowerCase() + complaint.message.slice(1);
