/**
 * Compiles every folder of `golden/` and compares what comes out: the diagnostics as printed, and of an accepted config the
 * part of the table that is its own. `UPDATE=1` rewrites the expectations.
 */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { compileFiles, printed } from '../helpers/compile.ts';
import { expectedOf, goldenNames, goldenText, readGolden } from '../helpers/golden.ts';

for (const name of goldenNames()) {
  test(`golden: ${name}`, () => {
    const result = compileFiles(readGolden(name));
    const actual = goldenText(result, printed(result));
    if (process.env.UPDATE === '1') writeFileSync(expectedOf(name), actual);
    assert.equal(actual, readFileSync(expectedOf(name), 'utf8'));
  });
}
