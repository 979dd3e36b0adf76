/** Finds the line of the expectation for each failure. */
import type { Diagnostic } from '../../../../compiler/diagnostics/diagnostic.ts';
import { createLines } from '../../../../compiler/print/lines.ts';
import type { Failure } from './compare.ts';
import type { TestResult } from './run-test.ts';

/** A failure with its place in the test file. */
export interface PlacedFailure extends Failure {
  /** 1-based. */
  readonly line: number;
  readonly column: number;
  readonly diagnostic: Diagnostic;
}

export function placeFailures({ loaded, failures }: TestResult): PlacedFailure[] {
  const { tests, index, test } = loaded;
  const lines = createLines();
  return failures.map((failure) => {
    const isRequest =
      failure.path[0] === 'route' || failure.path[0] === 'payload_file' || failure.path[0] === 'request';
    const path = ['tests', index, ...(isRequest ? [] : ['expect']), ...failure.path];
    const { file, key, value } = tests.tree.place(path);
    const range = key ?? value;
    const { line, column } = lines.positionOf(file.source, range.start);
    const message = `${test.name}: ${String(failure.path.at(-1) ?? 'expect')}: ${failure.message}`;
    const diagnostic: Diagnostic = { rule: 'test', severity: 'error', source: file.source, range, message };
    return { ...failure, line, column, diagnostic };
  });
}
