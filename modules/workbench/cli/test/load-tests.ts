/** Finds and reads test files. Each test has its position in the file; errors are diagnostics. */
import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { RE2JS } from 're2js';
import { messageOf } from '../../../../base/errors.ts';
import type { CliContext } from '../../../../cli/base/context.ts';
import { CliError } from '../../../../cli/base/errors.ts';
import { withWritten } from '../../../../compiler/config/written-numbers.ts';
import type { Diagnostic, NodePath } from '../../../../compiler/diagnostics/diagnostic.ts';
import { sortDiagnostics } from '../../../../compiler/diagnostics/diagnostic.ts';
import type { CompilerPart } from '../../../../compiler/module.ts';
import { nodeFiles } from '../../../../compiler/node/node-files.ts';
import type { Files } from '../../../../compiler/source/files.ts';
import { filesBelow, namedFolder, readText } from '../../../../compiler/source/files.ts';
import type { Places } from '../../../../compiler/source/find-place.ts';
import { createReport } from '../../../../compiler/source/find-place.ts';
import type { MisshapenFile } from '../../../../compiler/source/load-config.ts';
import { loadFile } from '../../../../compiler/source/load-config.ts';
import { isPlainMap } from '../../../../compiler/text/plain-data.ts';
import { didYouMean } from '../../../../compiler/text/suggest.ts';
import { OUTCOMES } from '../../../../runtime/intake/reply.ts';
import type { RunScript } from '../../../../runtime/intake/script-runner.ts';
import type { RoutePlan, RouteTable, TestCase, TestFile } from '../../../../schemas/generated/types.ts';
import type { Explainer } from '../../runtime/explain/create-explainer.ts';
import { fixedWorld } from '../../runtime/explain/create-explainer.ts';
import { createMachineExplainer, openConfig, scriptRunner } from '../explain/machine-services.ts';

export interface LoadedTests {
  /** Absolute path. */
  readonly path: string;
  /** The path as printed. */
  readonly name: string;
  readonly file: TestFile;
  readonly tree: Places;
  /** The file system, as far as the test may name its files. */
  readonly named: Files;
}

export interface LoadedTest {
  readonly tests: LoadedTests;
  readonly index: number;
  readonly test: TestCase;
}

/** The parts of a test that describe its request. */
const BODIES = ['payload', 'payload_file', 'request'] as const;

/** An untrusted test must not print any other file: those of its folder, and of the configuration under test. */
function filesOf({ cwd, allowed = [] }: TestsContext, path: string, configs: readonly string[] = []): Files {
  const project = existsSync(join(cwd, CONFIG)) ? [cwd] : [];
  return filesBelow(nodeFiles, [
    namedFolder(nodeFiles, cwd, path),
    ...project,
    ...configs.map((one) => namedFolder(nodeFiles, cwd, resolve(cwd, one))),
    ...allowed,
  ]);
}

type TestsContext = Pick<CliContext, 'cwd' | 'allowed'>;

/** @param paths absolute paths */
export function loadTests(
  context: TestsContext,
  paths: readonly string[],
  configs: readonly string[] | undefined,
  modules: readonly CompilerPart[],
): { readonly loaded: readonly LoadedTests[]; readonly diagnostics: readonly Diagnostic[] } {
  const diagnostics: Diagnostic[] = [];
  const loaded = paths.flatMap((path): readonly LoadedTests[] => {
    const named = filesOf(context, path, configs);
    const found = loadFile({ files: named, cwd: context.cwd, path, schema: 'test' });
    const report = createReport(modules);
    report.add(found.findings);
    diagnostics.push(...report.diagnostics());
    if (found.misshapen !== null) diagnostics.push(...otherProblems(found.misshapen));
    if (found.file === null) return [];
    const { value, tree } = found.file;
    const file = { ...value, tests: value.tests.map((test, index) => asWritten(test, index, tree)) };
    const problems = file.tests.flatMap((test, index) => testProblems(test, index, tree));
    diagnostics.push(...problems);
    return problems.length > 0 ? [] : [{ path, name: tree.files[0]?.source.name ?? path, file, tree, named }];
  });
  return { loaded, diagnostics: sortDiagnostics(diagnostics.map(withoutFix)) };
}

/** The numbers of the payload are sent as they are written. */
function asWritten(test: TestCase, index: number, tree: Places): TestCase {
  if (test.payload === undefined) return test;
  const payload = withWritten(test.payload, ['tests', index, 'payload'], (path) => tree.place(path).plain);
  return { ...test, payload: payload as NonNullable<TestCase['payload']> };
}

/** Removes the fix, because `lint --fix` repairs only configurations. */
const withoutFix = ({ fix: _, ...diagnostic }: Diagnostic): Diagnostic => diagnostic;

/** Problems of the valid tests in a file with malformed tests, so that all problems are reported at once. */
function otherProblems({ value, tree, problems }: MisshapenFile): readonly Diagnostic[] {
  const tests: unknown = isPlainMap(value) ? value.tests : undefined;
  if (!Array.isArray(tests) || problems.some(({ path }) => path.length < 2)) return [];
  const isShapely = (index: number): boolean => !problems.some(({ path }) => path[0] === 'tests' && path[1] === index);
  return tests.flatMap((test: TestCase, index) => (isShapely(index) ? testProblems(test, index, tree) : []));
}

const testProblems = (test: TestCase, index: number, tree: Places): readonly Diagnostic[] => [
  ...bodyProblem(test, index, tree),
  ...expectationProblems(test, index, tree),
];

function bodyProblem(test: TestCase, index: number, tree: Places): readonly Diagnostic[] {
  const given = BODIES.filter((key) => test[key] !== undefined);
  if (given.length === 1) return [];
  const [, second] = given;
  if (second !== undefined) {
    const message = `a test must have exactly one of ${BODIES.join(', ')}; this one has ${given.join(' and ')}`;
    return [findingAt(tree, ['tests', index, second], 'test-request', message)];
  }
  return [findingAt(tree, ['tests', index, 'name'], 'test-request', `a test must have one of ${BODIES.join(', ')}`)];
}

/** Rejects impossible answers and invalid search texts. */
function expectationProblems({ expect }: TestCase, index: number, tree: Places): readonly Diagnostic[] {
  const at = (...path: NodePath): NodePath => ['tests', index, 'expect', ...path];
  const report = (path: NodePath, message: string): Diagnostic => findingAt(tree, path, 'test-expectation', message);
  const { outcome, prompt } = expect;
  const isKnown = outcome === undefined || OUTCOMES.some((each) => each === outcome);
  const matches = typeof prompt === 'object' ? prompt.matches : undefined;
  const fault = matches === undefined ? null : regexFault(matches);
  const unknown = `unknown outcome "${outcome}"${didYouMean(outcome ?? '', OUTCOMES)}`;
  return [
    ...(isKnown ? [] : [report(at('outcome'), unknown)]),
    ...(fault === null ? [] : [report(at('prompt', 'matches'), `not a valid RE2 regular expression: ${fault}`)]),
  ];
}

/** Returns why the expression is invalid; null if it is valid. */
function regexFault(source: string): string | null {
  try {
    RE2JS.compile(source);
    return null;
  } catch (error) {
    return messageOf(error);
  }
}

/** Points at the key for a request, and at the value for an expectation. */
function findingAt(
  tree: Places,
  path: NodePath,
  rule: 'test-request' | 'test-expectation',
  message: string,
): Diagnostic {
  const { file, key, value } = tree.place(path);
  const range = rule === 'test-request' ? (key ?? value) : value;
  return { rule, severity: 'error', source: file.source, range, message };
}

const SUFFIX = /\.test\.ya?ml$/;
const CONFIG = 'hookwright.yaml';

/**
 * Returns the named files, or all test files next to the configuration. Absolute paths, sorted.
 * @throws CliError for a name that is not a file
 */
export function findTests(
  context: Pick<CliContext, 'cwd' | 'home'>,
  files: Files,
  named: readonly string[],
  configs: readonly string[] | undefined,
): string[] {
  if (named.length > 0) {
    return named.map((name) => {
      const path = resolve(context.cwd, name);
      if (!existsSync(path)) throw new CliError(`there is no file ${name}`);
      return path;
    });
  }
  const folders = new Set((configs ?? [usualConfig(context)]).map((path) => dirname(resolve(context.cwd, path))));
  return [...folders].flatMap((folder) => testsIn(files, folder)).sort();
}

const testsIn = (files: Files, folder: string): string[] =>
  files
    .list(folder)
    .filter((name) => SUFFIX.test(name))
    .map((name) => join(folder, name));

function usualConfig({ cwd, home }: Pick<CliContext, 'cwd' | 'home'>): string {
  const here = join(cwd, CONFIG);
  return existsSync(here) ? here : join(home, 'config.yaml');
}

/** The configs from the command line, else from the test file, else next to it. Undefined: the usual search. */
export function configsOf(
  { path, name, file, named }: LoadedTests,
  configs: readonly string[] | undefined,
): readonly string[] | undefined {
  if (configs !== undefined) return configs;
  const folder = dirname(path);
  if (file.config !== undefined) {
    const config = resolve(folder, file.config);
    const read = readText(named, config);
    if (!read.ok) throw new CliError(`${name}: the configuration \`${file.config}\` ${read.message}`);
    return [config];
  }
  const beside = join(folder, CONFIG);
  return existsSync(beside) ? [beside] : undefined;
}

/** A configuration under test. It is compiled once; its routes are linked on first use. */
export interface TestedConfig extends Explainer {
  /** Absolute paths of the files that it depends on. */
  readonly inputs: readonly string[];
  readonly plan: (route: string) => RoutePlan | null;
  readonly runScript: () => Promise<RunScript>;
}

/** Uses neither secrets nor the store nor the network. @throws CliError if the configuration does not compile */
export async function openTested(context: CliContext, configs: readonly string[] | undefined): Promise<TestedConfig> {
  const { table, files } = await openConfig(context, configs);
  return testedTable(context, table, files);
}

/** Like `openTested`, for a compiled table. @param inputs see `TestedConfig` */
export function testedTable(context: CliContext, table: RouteTable, inputs: readonly string[]): TestedConfig {
  let scripts: Promise<RunScript> | null = null;
  return {
    ...createMachineExplainer(context, table, fixedWorld(table)),
    inputs,
    plan: (route) => Object.values(table.routes).find(({ name }) => name === route) ?? null,
    runScript() {
      scripts ??= scriptRunner(context, table, inputs);
      return scripts;
    },
  };
}
