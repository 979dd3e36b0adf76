/**
 * Expected outputs in files: wording is tested nowhere else. `UPDATE=1` rewrites them. Each case of
 * `test/compiler/golden/` is a folder, whose `home/` is the home.
 */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { CompileResult } from '../../compiler/compile.ts';
import type { CliResult } from './cli.ts';
import { ROOT } from './root.ts';

/** Compares a text with the file of the expected one. @param path below `test/` */
export function expectGolden(path: string, text: string): void {
  const file = join(ROOT, 'test', path);
  if (process.env.UPDATE === '1') writeFileSync(file, text);
  assert.equal(text, existsSync(file) ? readFileSync(file, 'utf8') : '', `${path} is rewritten by UPDATE=1`);
}

/** The terminal output of commands, one after the other. A word with a space in it is quoted. */
export async function screensOf(
  run: (...argv: string[]) => Promise<CliResult>,
  ...commands: readonly (readonly string[])[]
): Promise<string> {
  const screens: string[] = [];
  for (const argv of commands) {
    const { code, stdout, stderr } = await run(...argv);
    const typed = argv.map((word) => (/[\s{}]/.test(word) ? `'${word}'` : word)).join(' ');
    screens.push(`$ hookwright ${typed}\n${stdout}${stderr}${code === 0 ? '' : `exit ${code}\n`}`);
  }
  return screens.join('\n');
}

/** The folder of the golden files in the repository, so that `UPDATE=1` rewrites the versioned ones. */
const GOLDEN = pathToFileURL(join(ROOT, 'test/compiler/golden/'));
const EXPECTED = 'expected.txt';

export const goldenNames = (): readonly string[] => readdirSync(GOLDEN);

/** The file with the expected output of a case. */
export const expectedOf = (name: string): URL => new URL(`${name}/${EXPECTED}`, GOLDEN);

/** Its files by path below the project; `~/.hookwright/` is the home. */
export function readGolden(name: string): Record<string, string> {
  const folder = new URL(`${name}/`, GOLDEN);
  const entries = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  const paths = entries.filter((path) => statSync(new URL(path, folder)).isFile()).sort();
  const inputs = paths.filter((path) => path !== EXPECTED);
  return Object.fromEntries(
    inputs.map((path) => [path.replace(/^home\//, '~/.hookwright/'), readFileSync(new URL(path, folder), 'utf8')]),
  );
}

/** @param printed the diagnostics, as a person sees them */
export function goldenText({ output }: Pick<CompileResult, 'output'>, printed: string): string {
  if (output === null) return printed;
  const { server, gateway, app_scheme, profiles, jobs, routes } = output.table;
  const own = { server, gateway, app_scheme, profiles, jobs, routes };
  return `${printed}${JSON.stringify(own, null, 2)}\n`;
}
