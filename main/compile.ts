/** Compiles for programs that embed the package, with the modules that they name. These are loaded with the first compile. */
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import type { CliContext } from '../cli/base/context.ts';
import type { Module } from '../cli/base/module.ts';
import { loadCompilerParts, loadRules } from '../cli/compile/compiler-parts.ts';
import type { CompileResult } from '../compiler/compile.ts';
import { compile } from '../compiler/compile.ts';
import type { Flags } from '../compiler/config/overrides.ts';
import type { Diagnostic } from '../compiler/diagnostics/diagnostic.ts';
import type { Machine } from '../compiler/node/machine-facts.ts';
import { createMachineFacts } from '../compiler/node/machine-facts.ts';
import { nodeFiles } from '../compiler/node/node-files.ts';
import { readShippedCatalog } from '../compiler/node/shipped-catalog.ts';
import { overlayFiles } from '../compiler/source/overlay-files.ts';
import type { ShippedCatalog } from '../compiler/source/shipped-catalog.ts';
import { compileSubscriptions } from '../compiler/stages/compile-subscriptions.ts';
import type { JobRef } from '../compiler/views/machine-facts.ts';
import type { CompileSubscriptions } from '../runtime/service/options.ts';
import type { Catalog, RouteTable } from '../schemas/generated/types.ts';

/**
 * What a config is compiled with. The defaults are those of the command line.
 *
 * @example
 * ```ts
 * import type { CompileOptions } from 'hookwright/compiler';
 * import { compileText } from 'hookwright/compiler';
 *
 * const options: CompileOptions = { home: '/var/lib/app', env: { WEBHOOK_PORT: '9000' }, flags: { host: '127.0.0.1' } };
 * const { table } = await compileText('platforms: { webhook: { enabled: true } }', options);
 * console.log(table?.server); // host 127.0.0.1, port 9000
 * ```
 */
export interface CompileOptions {
  /** `<home_dir>`. Default: `$HOOKWRIGHT_HOME`, else `~/.hookwright`. */
  readonly home?: string | undefined;
  /** Environment variables, which override the config and which secrets may refer to. Default: those of the process. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  /** Base of relative paths. Default: the working directory. */
  readonly cwd?: string | undefined;
  /** Settings that override the environment. */
  readonly flags?: Flags | undefined;
  /** Jobs in the store, which `cron_job` may also name. */
  readonly jobs?: readonly JobRef[] | undefined;
}

/**
 * The result of a compile. `diagnostics` are sorted by file and position and include warnings. If one of them is an error,
 * `table` and `blueprints` are null.
 *
 * @example
 * ```ts
 * import type { Compiled } from 'hookwright/compiler';
 * import { compileText } from 'hookwright/compiler';
 *
 * const compiled: Compiled = await compileText('platforms: {}', { home: '/var/lib/app', env: {} });
 * if (compiled.table === null) throw new Error(compiled.diagnostics.map(({ message }) => message).join('\n'));
 * console.log(compiled.table.hash);
 * ```
 */
export type Compiled =
  | {
      readonly table: RouteTable;
      /** The response to `GET /blueprints`. */
      readonly blueprints: Catalog;
      readonly diagnostics: readonly Diagnostic[];
    }
  | { readonly table: null; readonly blueprints: null; readonly diagnostics: readonly Diagnostic[] };

type Modules = readonly Module<CliContext>[];

/** Files by paths and globs, or a text with the name that messages call it by. */
export type ConfigInput = { readonly paths: readonly string[] } | { readonly text: string; readonly file: string };

let catalog: ShippedCatalog | null = null;

export async function compileWith(
  modules: Modules,
  input: ConfigInput,
  options: CompileOptions,
): Promise<CompileResult> {
  // Read once per process, because it has a hundred entries.
  catalog ??= readShippedCatalog();
  const { flags = {}, jobs = [] } = options;
  const machine = machineOf(options);
  const text = 'text' in input ? ([resolve(machine.cwd, input.file), input.text] as const) : null;
  return compile({
    ...machine,
    files: text === null ? nodeFiles : overlayFiles(nodeFiles, new Map([text])),
    configs: 'paths' in input ? input.paths : [resolve(machine.cwd, input.file)],
    flags,
    catalog,
    jobs,
    modules: await loadCompilerParts(modules),
  });
}

export function compiledOf({ output, diagnostics }: CompileResult): Compiled {
  if (output === null) return { table: null, blueprints: null, diagnostics };
  return { table: output.table, blueprints: output.catalog(), diagnostics };
}

export function machineOf({ home, env = process.env, cwd = process.cwd() }: CompileOptions): Machine {
  const named = env.HOOKWRIGHT_HOME;
  const usual = named === undefined || named === '' ? join(env.HOME || homedir(), '.hookwright') : named;
  return { home: resolve(cwd, home ?? usual), env: { ...env }, cwd };
}

/** Checks and lowers dynamic subscriptions as the command line does. */
export async function subscriptionLowerer(modules: Modules, options: CompileOptions): Promise<CompileSubscriptions> {
  const rules = await loadRules(modules);
  const machine = machineOf(options);
  return (text, table, jobs) => compileSubscriptions(text, { table, facts: createMachineFacts(machine, jobs), rules });
}
