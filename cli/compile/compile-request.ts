/** The compile that a command line requests. */
import type { Flags } from '../../compiler/config/overrides.ts';
import type { CliContext } from '../base/context.ts';
import { readJobsToCompile } from '../store/stored-jobs.ts';
import type { CompileRequest } from './compile-files.ts';
import { loadCompilerParts } from './compiler-parts.ts';

export interface CompileFlags {
  readonly configs?: readonly string[] | undefined;
  readonly flags?: Flags;
}

export async function createCompileRequest(
  context: CliContext,
  { configs, flags }: CompileFlags,
): Promise<CompileRequest> {
  const { cwd, home, env } = context;
  const [catalog, stored, modules] = await Promise.all([
    context.catalog(),
    readJobsToCompile(context, configs),
    loadCompilerParts(context.modules),
  ]);
  // Only what routes can name: the request may be sent to a thread.
  const jobs = stored.map(({ id, name, profile }) => ({ id, name, profile }));
  return { cwd, home, configs: configs ?? [], env: { ...env }, flags: flags ?? {}, catalog, jobs, modules };
}
