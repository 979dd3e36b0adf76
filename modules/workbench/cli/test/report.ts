/** Prints the results of a test run: for people, as JSON, as JUnit XML, or as annotations of a pull request. */

import { groupBy } from '../../../../base/group-by.ts';
import type { Paint } from '../../../../base/paint.ts';
import { visible } from '../../../../cli/output/print.ts';
import type { Diagnostic } from '../../../../compiler/diagnostics/diagnostic.ts';
import { diagnosticRecords, printGithub } from '../../../../compiler/print/print.ts';
import { formatStop, textDiff } from '../explain/format-explanation.ts';
import type { Coverage } from './coverage.ts';
import type { PlacedFailure, TestResult, TestRun } from './run-tests.ts';
import { placeFailures } from './run-tests.ts';

/** @param diagnostics problems of test files; each becomes a suite with an error */
function printJunit({ results }: TestRun, diagnostics: readonly Diagnostic[]): string {
  const suites = groupBy(results, ({ loaded }) => loaded.tests.name);
  const failed = results.filter(({ failures }) => failures.length > 0).length;
  const errors = diagnosticRecords(diagnostics);
  const lines = [...errors.map(brokenFile), ...[...suites].map(([file, tests]) => suite(file, tests))];
  const counts = `tests="${results.length + errors.length}" failures="${failed}" errors="${errors.length}"`;
  const head = `<testsuites ${counts}>`;
  return `<?xml version="1.0" encoding="UTF-8"?>\n${head}\n${lines.join('')}</testsuites>\n`;
}

function brokenFile({ file, line, column, rule, message }: ReturnType<typeof diagnosticRecords>[number]): string {
  const name = escapeXml(file);
  return [
    `  <testsuite name="${name}" tests="1" failures="0" errors="1">`,
    `    <testcase name="${name}" classname="${rule}" file="${name}">`,
    `      <error message="${escapeXml(message)}">${name}:${line}:${column}</error>`,
    '    </testcase>\n  </testsuite>\n',
  ].join('\n');
}

function suite(file: string, results: readonly TestResult[]): string {
  const failed = results.filter(({ failures }) => failures.length > 0).length;
  const cases = results.map((result) => testCase(file, result)).join('');
  return `  <testsuite name="${escapeXml(file)}" tests="${results.length}" failures="${failed}">\n${cases}  </testsuite>\n`;
}

function testCase(file: string, result: TestResult): string {
  const { name, route } = result.loaded.test;
  const placed = placeFailures(result);
  const open = `    <testcase name="${escapeXml(name)}" classname="${escapeXml(route)}" file="${escapeXml(file)}"`;
  if (placed.length === 0) return `${open}/>\n`;
  const failures = placed.map(({ line, column, message, expected, actual }) => {
    const text = [
      `${file}:${line}:${column}`,
      ...(expected === null ? [] : ['expected:', expected]),
      ...(actual === null ? [] : ['actual:', actual]),
    ];
    return `      <failure message="${escapeXml(message)}">${escapeXml(text.join('\n'))}</failure>\n`;
  });
  return `${open}>\n${failures.join('')}    </testcase>\n`;
}

/** XML 1.0 cannot contain most control characters, not even escaped. */
const escapeXml = (text: string): string =>
  text
    .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, '\ufffd')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll('\n', '&#10;');

export const TEST_FORMATS = ['pretty', 'json', 'junit', 'github'] as const;
type TestFormat = (typeof TEST_FORMATS)[number];

type Print = (run: TestRun, diagnostics: readonly Diagnostic[], paint: Paint) => string;

const PRINT: Readonly<Record<TestFormat, Print>> = {
  pretty: printPretty,
  json: printJson,
  junit: printJunit,
  github: ({ results }, diagnostics) =>
    printGithub([...diagnostics, ...results.flatMap(placeFailures).map(({ diagnostic }) => diagnostic)]),
};

/**
 * Returns text that ends with a line break.
 * @param diagnostics problems of test files: part of the results in machine formats, printed separately for people
 */
export const printRun = (format: TestFormat, ...printed: Parameters<Print>): string => PRINT[format](...printed);

function printPretty({ results }: TestRun, _diagnostics: readonly Diagnostic[], paint: Paint): string {
  const failed = results.filter(({ failures }) => failures.length > 0);
  const blocks = failed.flatMap((result) => printFailed(result, paint));
  const files = new Set(results.map(({ loaded }) => loaded.tests.path)).size;
  const passed = results.length - failed.length;
  const total = [
    ...(failed.length === 0 ? [] : [paint('red', `${failed.length} failed`)]),
    paint('green', `${passed} passed`),
  ].join(', ');
  return [...blocks, `${total} (${files} file${files === 1 ? '' : 's'})`, ''].join('\n');
}

function printFailed(result: TestResult, paint: Paint): string[] {
  const { loaded, found } = result;
  const placed = placeFailures(result);
  const stop = found === null ? [] : formatStop(found.explanation, paint);
  return [
    `${paint('red', '✗')} ${paint('bold', visible(loaded.test.name))}`,
    ...placed.flatMap((failure) => printFailure(loaded.tests.name, failure, paint)),
    ...(placed.some(({ path }) => path[0] === 'outcome' || path[0] === 'reason')
      ? stop.map((line) => `    ${line}`)
      : []),
    '',
  ];
}

function printFailure(
  name: string,
  { line, column, path, message, expected, actual }: PlacedFailure,
  paint: Paint,
): string[] {
  const place = `${visible(name)}:${line}:${column}`;
  const head = `  ${paint('bold', place)}: ${String(path.at(-1) ?? 'expect')}: ${visible(message)}`;
  if (actual === null) return [head];
  const text =
    expected === null
      ? actual.split('\n').map((each) => paint('dim', `  ${visible(each)}`))
      : textDiff(expected, actual, paint);
  return [head, ...text.map((each) => `    ${each}`)];
}

function printJson({ results, coverage }: TestRun, diagnostics: readonly Diagnostic[]): string {
  const tests = results.map((result) => ({
    file: result.loaded.tests.name,
    name: result.loaded.test.name,
    route: result.loaded.test.route,
    ok: result.failures.length === 0,
    failures: placeFailures(result).map(({ path, line, column, message, expected, actual }) => ({
      at: path.join('.'),
      line,
      column,
      message,
      expected,
      actual,
    })),
  }));
  const failed = tests.filter(({ ok }) => !ok).length;
  const errors = diagnosticRecords(diagnostics);
  return `${JSON.stringify({ passed: tests.length - failed, failed, errors, tests, coverage }, null, 2)}\n`;
}

/** Lists what no test reached, for a terminal. */
export function formatCoverage({ percent, routes }: Coverage, paint: Paint): string[] {
  const shown = routes.flatMap(({ route, reached, total, missing }) => [
    `${paint(missing.length === 0 ? 'green' : 'yellow', `${reached}/${total}`.padStart(7))} ${visible(route)}`,
    ...missing.map((item) => `        ${paint('dim', 'not reached:')} ${visible(item)}`),
  ]);
  return [...shown, `coverage ${percentText(percent)} %`];
}

/** Never rounded up to 100. */
export const percentText = (percent: number): string => String(Math.floor(percent * 10) / 10);
