/**
 * Improves the compiler's findings: explains mistakes that come from other tools, drops their consequences, and adds a
 * fix if the meaning is certain.
 */
import type { Finding, NodePath, Problem } from '../../../compiler/diagnostics/diagnostic.ts';
import type { CompilerPart } from '../../../compiler/module.ts';
import type { SchemaName } from '../../../compiler/schema/known-keys.ts';
import { parsePointer } from '../../../compiler/schema/pointer.ts';
import type { NodeFinding, Tutor } from '../../../compiler/source/find-place.ts';
import { findPlace } from '../../../compiler/source/find-place.ts';
import { parseYaml } from '../../../compiler/source/parse-yaml.ts';
import { isPlainMap } from '../../../compiler/text/plain-data.ts';
import { readBraces, readSyntax } from './braces.ts';
import { FOREIGN_FILES, HERMES_PATHS, HERMES_SECTIONS } from './built/names.ts';
import { readForeignField } from './foreign-fields.ts';
import type { PlainMap, Slip } from './read-values.ts';
import { isNamed } from './read-values.ts';
import { withFix } from './repair-edits.ts';
import { RULE_FILES } from './rules/built/rule-files.ts';
import { explainSlip } from './slips.ts';
import { aroundComment, explainSyntax, straightQuotes } from './yaml-slips.ts';

export const explainFindings: Tutor = (findings) => {
  const texts = findings.filter((finding) => !isAboutNode(finding));
  const foreign = new Map<unknown, Slip | null>();
  const explained = findings
    .filter(isAboutNode)
    .flatMap(answer)
    .map((finding) => explain(finding, foreign));
  return [...explainTexts(texts), ...withoutConsequences(explained).map(({ finding }) => withFix(finding))];
};

const isAboutNode = (finding: Finding): finding is NodeFinding => 'node' in finding;

/** Answers the compiler's question about a text; other findings are unchanged. */
function answer(finding: NodeFinding): readonly NodeFinding[] {
  const { problem, tree, base } = finding.node;
  const { ask, ...asked } = problem;
  if (ask === undefined) return [finding];
  return answersTo(asked, ask).map((found) => findPlace({ ...found, path: problem.path }, tree, base));
}

function answersTo(problem: Problem, text: string): readonly Problem[] {
  if (problem.rule === 'template-braces') return readBraces(text);
  if (problem.rule === 'template-syntax') return [readSyntax(problem, text)];
  const field = readForeignField(text, problem.path);
  // A field that is an error is one in any case.
  return field === null ? (problem.message === '' ? [] : [problem]) : [{ ...problem, ...field }];
}

/** Findings about the text of a file. */
function explainTexts(findings: readonly Finding[]): readonly Finding[] {
  const isSyntax = ({ rule }: Finding): boolean => rule === 'yaml-syntax';
  const invalid = new Set(findings.filter(isSyntax).map(({ source }) => source));
  return [
    ...findings
      .filter((finding) => !isSyntax(finding))
      .map((finding) => WITH_QUOTES[finding.rule]?.(finding) ?? finding),
    ...[...invalid].flatMap((source) => parseYaml(source, explainSyntax).findings.filter(isSyntax)),
  ];
}

const WITH_QUOTES: Partial<Record<Finding['rule'], (finding: Finding) => Finding>> = {
  'curly-quotes': straightQuotes,
  'template-cut': aroundComment,
};

interface Explained {
  readonly finding: NodeFinding;
  /** Null if the mistake is not recognised. */
  readonly slip: Slip | null;
}

/** @param foreign the results of `foreignFile`, by the data of a file */
function explain(finding: NodeFinding, foreign: Map<unknown, Slip | null>): Explained {
  const { problem, tree, base } = finding.node;
  const { cause } = problem;
  if (cause === undefined) return { finding, slip: null };
  const { schema, data, error } = cause;
  const place = { schema, data, path: parsePointer(error.instancePath, data) };
  const written = (path: NodePath): string | null => tree.place([...base, ...path]).plain;
  if (!foreign.has(data)) foreign.set(data, foreignFile(schema, data));
  const slip = foreign.get(data) ?? (error.propertyName === undefined ? explainSlip(place, error, written) : null);
  if (slip === null) return { finding, slip };
  // A stage may have set its own rule and prefixed the schema's message.
  const words = problem.message.slice(0, problem.message.length - cause.message.length);
  const rule = words === '' ? slip.rule : problem.rule;
  return { slip, finding: findPlace({ ...slip, rule, message: words + slip.message, cause }, tree, base) };
}

/** Drops problems that another mistake covers, except the first of them, and missing keys that are misspelt. */
function withoutConsequences(explained: readonly Explained[]): readonly Explained[] {
  const covers = new Map<string, Slip>();
  const written = new Set<string>();
  const keys = keysOfTrees();
  for (const { slip, finding } of explained) {
    if (slip === null) continue;
    const keyOf = (path: NodePath): string => keys(finding, [...finding.node.base, ...path]);
    for (const path of slip.covers ?? []) if (!covers.has(keyOf(path))) covers.set(keyOf(path), slip);
    if (slip.instead !== undefined) written.add(keyOf([...slip.path.slice(0, -1), slip.instead]));
  }
  return explained.filter(({ slip, finding }) => {
    const path = [...finding.node.base, ...finding.node.problem.path];
    const missing = finding.node.problem.cause?.error.params.missingProperty;
    if (missing !== undefined && written.has(keys(finding, [...path, String(missing)]))) return false;
    return [...path, ''].every((_, length) => (covers.get(keys(finding, path.slice(0, length))) ?? slip) === slip);
  });
}

/** A key for a path that is different in each file. */
function keysOfTrees(): (finding: NodeFinding, path: NodePath) => string {
  const numbers = new Map<unknown, number>();
  return ({ node: { tree } }, path) => {
    if (!numbers.has(tree)) numbers.set(tree, numbers.size);
    return JSON.stringify([numbers.get(tree), ...path]);
  };
}

/** A problem that covers the whole file; null if the data may be a configuration of hookwright. */
export function foreignFile(schema: SchemaName, data: unknown): Slip | null {
  if (schema !== 'config' || !isPlainMap(data)) return null;
  const [file] =
    Object.entries(FOREIGN_FILES).find(
      ([, has]) => data.platforms === undefined && has.every((path) => hasPath(data, path.split('.'))),
    ) ?? [];
  const [name, hint] = isHermes(data) ? ['a config of Hermes Agent', CONVERT] : [file, NAME_IT];
  if (name === undefined) return null;
  const message = `this is ${name}, not a configuration of hookwright`;
  return { rule: 'unknown-key', path: Object.keys(data).slice(0, 1), at: 'key', message, hint, covers: [[]] };
}

const NAME_IT = 'pass the configuration: `--config hookwright.yaml`; `hookwright init` writes one';
const CONVERT =
  'run `hookwright convert hermes` with the name of this file: it writes a config for hookwright and reports what has no equivalent';

function isHermes(data: PlainMap): boolean {
  const sections = Object.keys(data).filter((key) => isNamed(HERMES_SECTIONS, key)).length;
  const isPart = hasPath(data, ['platforms', 'webhook', 'extra']) ? sections > 0 : sections > 1;
  return isPart || HERMES_PATHS.some((path) => hasPath(data, path.split('.')));
}

function hasPath(value: unknown, [key, ...rest]: readonly string[]): boolean {
  if (key === undefined) return value !== undefined;
  if (!isPlainMap(value)) return false;
  return (key === '*' ? Object.values(value) : [value[key]]).some((each) => hasPath(each, rest));
}

/** The module's part of the compiler. */
export const tutorCompiler: CompilerPart = { tutor: explainFindings, rules: RULE_FILES };
