/**
 * Compiles every folder of `golden/` and compares the printed diagnostics and, for an accepted config, its part of the
 * table. `UPDATE=1` rewrites the expectations.
 */
import { test } from 'node:test';
import { compileFiles, printed } from '../helpers/compile.ts';
import { expectGolden, goldenNames, goldenText, readGolden } from '../helpers/golden.ts';

for (const name of goldenNames()) {
  test(`golden: ${name}`, () => {
    const result = compileFiles(readGolden(name));
    expectGolden(`compiler/golden/${name}/expected.txt`, goldenText(result, printed(result)));
  });
}
