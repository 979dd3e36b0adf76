/** The cases of `test/compiler/golden/`: a folder each, whose `home/` is the home. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { CompileResult } from '../../compiler/compile.ts';
import { ROOT } from './root.ts';

/** Where they are kept, so that `UPDATE=1` rewrites the ones under version control. */
const GOLDEN = pathToFileURL(join(ROOT, 'test/compiler/golden/'));
const EXPECTED = 'expected.txt';

export const goldenNames = (): readonly string[] => readdirSync(GOLDEN);

/** The file of what is expected of a case. */
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
