/** Compiles configs for programs that embed the package. The modules are loaded at the first compile. */
import { homedir } from 'node:os';
import { join, parse, resolve } from 'node:path';
import type { CliContext } from '../cli/base/context.ts';
import type { Module } from '../cli/base/module.ts';
import { loadCompilerParts, loadRules } from '../cli/compile/compiler-parts.ts';
import type { CompileResult } from '../compiler/compile.ts';
import { compile } from '../compiler/compile.ts';
import type { Machine } from '../compiler/node/machine-facts.ts';
import { createMachineFacts } from '../compiler/node/machine-facts.ts';
import { nodeFiles } from '../compiler/node/node-files.ts';
import { readShippedCatalog } from '../compiler/node/shipped-catalog.ts';
import { overlayFiles } from '../compiler/source/files.ts';
import type { ShippedCatalog } from '../compiler/source/load-catalog.ts';
import { compileSubscriptions } from '../compiler/stages/compile-subscriptions.ts';
import type { CompileSubscriptions } from '../runtime/service/options.ts';
import type { Compiled, CompileOptions } from './compile-types.ts';

type Modules = readonly Module<CliContext>[];

/** Files by paths and globs, or a text with the file name that diagnostics show. */
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
    // A program chooses its own configuration.
    allowed: [parse(machine.cwd).root],
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

/** Returns a function that checks and lowers dynamic subscriptions as the command line does. */
export async function subscriptionLowerer(modules: Modules, options: CompileOptions): Promise<CompileSubscriptions> {
  const rules = await loadRules(modules);
  const machine = machineOf(options);
  return (text, table, jobs) => compileSubscriptions(text, { table, facts: createMachineFacts(machine, jobs), rules });
}
