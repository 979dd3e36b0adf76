/** Prints a test run as JUnit XML, for CI servers. */
import { groupBy } from '../../../../base/group-by.ts';
import type { Diagnostic } from '../../../../compiler/diagnostics/diagnostic.ts';
import { diagnosticRecords } from '../../../../compiler/print/print-json.ts';
import type { TestResult, TestRun } from './run-tests.ts';
import { placeFailures } from './run-tests.ts';

/** @param diagnostics what is wrong with test files: a suite each, of errors */
export function printJunit({ results }: TestRun, diagnostics: readonly Diagnostic[]): string {
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
