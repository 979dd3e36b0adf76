/** Parses a YAML (or JSON) file to plain data, and keeps its nodes, so that values can be located later. */
import type { Document, YAMLError } from 'yaml';
import type { Finding } from '../diagnostics/diagnostic.ts';
import { parseBounded, YamlLimitError } from '../text/bounded-yaml.ts';
import type { SourceText } from '../text/source-text.ts';
import type { AliasTargets, YamlNode } from './build-value.ts';
import { buildValue } from './build-value.ts';

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

/** The explanation of a syntax error, with its position if the mistake is not where the parser stops. */
export type ExplainedSyntax = Pick<Finding, 'message'> & Partial<Pick<Finding, 'range' | 'fix'>>;

export type ExplainSyntax = (error: YAMLError, source: SourceText, document: Document) => ExplainedSyntax;

/** Never throws: syntax errors become findings. */
export function parseYaml(source: SourceText, explain: ExplainSyntax = inWords): ParseResult {
  try {
    return parse(source, explain);
  } catch (error) {
    if (!(error instanceof YamlLimitError)) throw error;
    const { message, offset: start } = error;
    return { file: null, findings: [{ rule: 'yaml-syntax', source, range: { start, end: start }, message }] };
  }
}

function parse(source: SourceText, explain: ExplainSyntax): ParseResult {
  const document = parseBounded(source.text, YAML_OPTIONS);
  const faults = syntaxFindings(source, document, explain);
  if (faults.length > 0) return { file: null, findings: faults };
  const built = buildValue(source, document.contents);
  if (built.fatal) return { file: null, findings: built.findings };
  const file = { source, value: built.value, root: document.contents, aliases: built.aliases };
  return { file, findings: built.findings };
}

export const YAML_OPTIONS = {
  // `buildValue` finds duplicate keys, in linear time and with both positions.
  uniqueKeys: false,
  stringKeys: true,
  prettyErrors: false,
  logLevel: 'error',
} as const;

function syntaxFindings(source: SourceText, document: Document, explain: ExplainSyntax): readonly Finding[] {
  const lines = new Set<number>();
  const lineOf = (offset: number): number => source.text.lastIndexOf('\n', offset - 1);
  const findings: Finding[] = [];
  let passed = -1;
  for (const error of [...document.errors, ...document.warnings].toSorted((a, b) => a.pos[0] - b.pos[0])) {
    if (findings.length === MAX_SYNTAX_ERRORS) break;
    const [start, end] = error.pos.map((offset) => Math.min(offset, source.text.length)) as [number, number];
    // A line may have very many errors.
    if (start <= passed) continue;
    const lineEnd = source.text.indexOf('\n', start);
    passed = lineEnd === -1 ? source.text.length : lineEnd;
    if (lines.has(lineOf(start))) continue;
    const finding: Finding = {
      rule: 'yaml-syntax',
      source,
      range: { start, end: Math.max(start, end) },
      ...explain(error, source, document),
    };
    if (lines.has(lineOf(finding.range.start))) continue;
    lines.add(lineOf(finding.range.start));
    findings.push(finding);
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

/** The parser's error for a line that is neither a key with a value nor part of the value above. */
const NO_PAIR = /^Implicit map keys need to be followed by map values/;

/** In the parser's words, if there are no better ones. */
export const inWords: ExplainSyntax = ({ code, message }) => ({
  message: NO_PAIR.test(message)
    ? 'this line is not `key: value`: add the missing `:`, or write a multi-line text below `key: |`'
    : (SENTENCES[code] ?? message.charAt(0).toLowerCase() + message.slice(1)),
});
