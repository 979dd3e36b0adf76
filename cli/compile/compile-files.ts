/** Compiles a configuration and writes its tables, for `compile`, `gateway run` and the thread that recompiles. */

import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { isSystemError } from '../../base/errors.ts';
import { escapeInvisible } from '../../base/text.ts';
import type { CompileOutput, CompileResult } from '../../compiler/compile.ts';
import { compile } from '../../compiler/compile.ts';
import type { CompileInput } from '../../compiler/compile-input.ts';
import type { Flags } from '../../compiler/config/settings.ts';
import type { Finding } from '../../compiler/diagnostics/diagnostic.ts';
import { printCatalog } from '../../compiler/emit/emit-table.ts';
import { nodeFiles } from '../../compiler/node/node-files.ts';
import type { Files } from '../../compiler/source/files.ts';
import { filesBelow, readText } from '../../compiler/source/files.ts';
import { loadConfig } from '../../compiler/source/load-config.ts';
import { searchConfig } from '../../compiler/source/search-config.ts';
import type { SourceTree } from '../../compiler/source/source-tree.ts';
import { mergeFiles } from '../../compiler/source/source-tree.ts';
import { describeDiskError, makeFolder, writeAtomic } from '../../runtime/platform/files.ts';
import type { CliContext } from '../base/context.ts';
import { CliError } from '../base/errors.ts';
import { readJobsToCompile } from '../store/use-store.ts';
import { loadCompilerParts } from './compiler-parts.ts';
import { refuseLinks } from './refuse-links.ts';

/** Before a file is replaced: the path may name another file since. @throws CliError if the text is not that which was read */
export function requireSame(path: string, name: string, text: string): void {
  const now = readText(nodeFiles, path);
  if (!now.ok || now.text !== text)
    throw new CliError(`${name} has changed since it was read: nothing was written to it`);
}

/** All inputs of a compile except the files. Without `modules` it can be sent to a thread. */
export type CompileRequest = Omit<CompileInput, 'files'>;

/** @param files the file system, or one with unwritten changes */
export function compileRequest(request: CompileRequest, files: Files = nodeFiles): CompileResult {
  return compile({ ...request, files });
}

/** The folder of the tables: `--out`, else `build/` beside the root config file. */
export function outFolder({ root }: CompileResult, cwd: string, out: string | undefined): string {
  return out === undefined ? join(dirname(root), 'build') : resolve(cwd, out);
}

/**
 * Replaces each file as a whole, unless its content is the same. Mode 0600 if the table contains literal secrets. Writes outside
 * of the configuration's folder only if the command line names the folder.
 * @returns their paths, and whether the table has changed @throws CliError if a file cannot be written
 */
export function writeTables(
  result: CompileResult,
  output: CompileOutput,
  { cwd, out, allowed = [] }: Pick<CompileRequest, 'cwd' | 'allowed'> & { readonly out: string | undefined },
) {
  const folder = outFolder(result, cwd, out);
  const routes = join(folder, 'routes.json');
  const blueprints = join(folder, 'blueprints.json');
  const mode = output.hasLiteralSecrets ? 0o600 : 0o644;
  try {
    const own = out === undefined ? [dirname(result.root), ...allowed] : [folder];
    refuseLinks([routes, blueprints], own, 'to write the tables to another folder: --out <dir>');
    makeFolder(folder);
    // The catalog first, so that a process that sees the new table finds its catalog.
    replace(blueprints, printCatalog(output.catalog()), 0o644);
    return { routes, blueprints, changed: replace(routes, output.routesJson, mode) };
  } catch (error) {
    if (!isSystemError(error)) throw error;
    throw new CliError(
      `cannot write the tables to ${escapeInvisible(folder)}: ${describeDiskError(error)}`,
      'choose another folder: --out <dir>',
    );
  }
}

function replace(path: string, text: string, mode: number): boolean {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat !== undefined && (stat.mode & 0o777) === mode && readFileSync(path, 'utf8') === text) return false;
  writeAtomic(path, text, mode);
  return true;
}

export interface CompileFlags {
  readonly configs?: readonly string[] | undefined;
  readonly flags?: Flags;
}

export async function createCompileRequest(
  context: CliContext,
  { configs, flags }: CompileFlags,
): Promise<CompileRequest> {
  const { cwd, home, allowed, env } = context;
  const [catalog, stored, modules] = await Promise.all([
    context.catalog(),
    readJobsToCompile(context, configs),
    loadCompilerParts(context.modules),
  ]);
  // Only the fields that routes refer to, because the request may be sent to a thread.
  const jobs = stored.map(({ id, name, profile }) => ({ id, name, profile }));
  return { cwd, home, allowed, configs: configs ?? [], env: { ...env }, flags: flags ?? {}, catalog, jobs, modules };
}

/**
 * Reads the configuration without checking its rules, for commands that need one setting even if others are invalid.
 * @returns a null tree and the reasons if there is none or it cannot be read
 */
export function readConfig(
  { cwd, home, allowed }: CliContext,
  configs: readonly string[],
): { readonly tree: SourceTree | null; readonly named: Files; readonly findings: readonly Finding[] } {
  if (configs.length === 0 && searchConfig(nodeFiles, { cwd, home }).root === null)
    return { tree: null, named: filesBelow(nodeFiles, [join(home, 'catalog')]), findings: [] };
  const { files, named, incomplete, findings } = loadConfig({ files: nodeFiles, cwd, home, allowed, configs });
  if (incomplete || files.length === 0) return { tree: null, named, findings };
  return { tree: mergeFiles(files).tree, named, findings: [] };
}

/** The folder of compiled tables: beside ./hookwright.yaml, or else beside the configuration of the home. */
export function builtFolder({ cwd, home }: Pick<CliContext, 'cwd' | 'home'>): string {
  const here = join(cwd, 'build', 'routes.json');
  return dirname(existsSync(here) ? here : join(home, 'build', 'routes.json'));
}
