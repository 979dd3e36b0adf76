/**
 * Compiles every folder of `golden/` (its `home/` is the home) and compares what comes out: the diagnostics as printed,
 * and of an accepted config the part of the table that is its own. `UPDATE=1` rewrites the expectations.
 */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import type { CompileResult } from '../../compiler/compile.ts';
import { compileFiles, printed } from '../helpers/compile.ts';
import { ROOT } from '../helpers/root.ts';

/** Where they are kept, so that `UPDATE=1` rewrites the ones under version control. */
const GOLDEN = pathToFileURL(join(ROOT, 'test/compiler/golden/'));
const EXPECTED = 'expected.txt';

function readCase(name: string): Record<string, string> {
  const folder = new URL(`${name}/`, GOLDEN);
  const entries = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  const paths = entries.filter((path) => statSync(new URL(path, folder)).isFile()).sort();
  const inputs = paths.filter((path) => path !== EXPECTED);
  return Object.fromEntries(
    inputs.map((path) => [path.replace(/^home\//, '~/.hookwright/'), readFileSync(new URL(path, folder), 'utf8')]),
  );
}

function expectation(result: CompileResult): string {
  if (result.output === null) return printed(result);
  const { server, gateway, app_scheme, profiles, jobs, routes } = result.output.table;
  const own = { server, gateway, app_scheme, profiles, jobs, routes };
  return `${printed(result)}${JSON.stringify(own, null, 2)}\n`;
}

for (const name of readdirSync(GOLDEN)) {
  test(`golden: ${name}`, () => {
    const actual = expectation(compileFiles(readCase(name)));
    const path = new URL(`${name}/${EXPECTED}`, GOLDEN);
    if (process.env.UPDATE === '1') writeFileSync(path, actual);
    assert.equal(actual, readFileSync(path, 'utf8'));
  });
}
