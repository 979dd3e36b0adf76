/**
 * Compiles every folder of `golden/` and compares what comes out: the diagnostics as printed, and of an accepted config the
 * part of the table that is its own. `UPDATE=1` rewrites the expectations.
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
