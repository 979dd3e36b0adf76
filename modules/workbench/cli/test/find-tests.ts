/** Finds the files with tests, and the configuration that each one tests. */
import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { CliContext } from '../../../../cli/base/context.ts';
import { CliError } from '../../../../cli/base/errors.ts';
import type { Files } from '../../../../compiler/source/files.ts';
import type { LoadedTests } from './load-tests.ts';

const SUFFIX = /\.test\.ya?ml$/;
const CONFIG = 'hookwright.yaml';

/**
 * The named files, or all next to the configuration. Absolute paths, sorted.
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

/** The one on the command line, else the one that the file names, else the one next to it. Undefined: the usual search. */
export function configsOf(
  { path, file }: Pick<LoadedTests, 'path' | 'file'>,
  configs: readonly string[] | undefined,
): readonly string[] | undefined {
  if (configs !== undefined) return configs;
  const folder = dirname(path);
  if (file.config !== undefined) return [resolve(folder, file.config)];
  const beside = join(folder, CONFIG);
  return existsSync(beside) ? [beside] : undefined;
}
