/** `hookwright/compiler`, for programs that embed it: compiles configs to tables and diagnostics, with the modules of this program. */
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { loadCompilerParts } from '../cli/compile/compiler-parts.ts';
import type { CompileInput } from '../compiler/compile.ts';
import { compile } from '../compiler/compile.ts';
import type { Flags } from '../compiler/config/overrides.ts';
import type { Diagnostic } from '../compiler/diagnostics/diagnostic.ts';
import { createMachineFacts } from '../compiler/node/machine-facts.ts';
import { nodeFiles } from '../compiler/node/node-files.ts';
import { readShippedCatalog } from '../compiler/node/shipped-catalog.ts';
import { rulesInForce } from '../compiler/rules/registry.ts';
import { overlayFiles } from '../compiler/source/overlay-files.ts';
import type { ShippedCatalog } from '../compiler/source/shipped-catalog.ts';
import { compileSubscriptions } from '../compiler/stages/compile-subscriptions.ts';
import type { JobRef } from '../compiler/views/machine-facts.ts';
import type { Catalog, RoutePlan, RouteTable } from '../schemas/generated/types.ts';
import { MODULES } from './modules.ts';

export type { Flags } from '../compiler/config/overrides.ts';
export type { Diagnostic, RelatedPlace } from '../compiler/diagnostics/diagnostic.ts';
export type { Rule, RuleGroup, RuleId, Severity } from '../compiler/diagnostics/rule.ts';
export { RULE_GROUPS, RULES } from '../compiler/diagnostics/rule.ts';
export type { DiagnosticFormat } from '../compiler/print/print.ts';
export { DIAGNOSTIC_FORMATS, printDiagnostics } from '../compiler/print/print.ts';
export type { Range, SourceText } from '../compiler/text/source-text.ts';
export type { JobRef } from '../compiler/views/machine-facts.ts';

/** The defaults are those of the command line. */
export interface CompileOptions {
  /** `<home_dir>`. Default: `$HOOKWRIGHT_HOME`, else `~/.hookwright`. */
  readonly home?: string;
  /** Environment variables, which override the config and which secrets may refer to. Default: those of the process. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Base of relative paths. Default: the working directory. */
  readonly cwd?: string;
  /** Settings that override the environment. */
  readonly flags?: Flags;
  /** Jobs in the store, which `cron_job` may also name. */
  readonly jobs?: readonly JobRef[];
}

export interface CompileTextOptions extends CompileOptions {
  /** File name of the text, for diagnostics and relative includes. Default: `hookwright.yaml`. */
  readonly file?: string;
}

export interface CompileFilesOptions extends CompileOptions {
  /** Paths and globs. Default: `./hookwright.yaml`, else `<home_dir>/config.yaml`. */
  readonly config?: readonly string[];
}

/** Diagnostics are sorted by file and position and include warnings. The table is null if one of them is an error. */
export type Compiled =
  | {
      readonly table: RouteTable;
      /** The response to `GET /blueprints`. */
      readonly blueprints: Catalog;
      readonly diagnostics: readonly Diagnostic[];
    }
  | { readonly table: null; readonly blueprints: null; readonly diagnostics: readonly Diagnostic[] };

/** Compiles a config given as text. Reports every problem as a diagnostic; never rejects because of the config. */
export async function compileText(yaml: string, options: CompileTextOptions = {}): Promise<Compiled> {
  const input = inputOf(options);
  const path = resolve(input.cwd, options.file ?? 'hookwright.yaml');
  return compiled({ ...input, files: overlayFiles(nodeFiles, new Map([[path, yaml]])), configs: [path] });
}

/** Compiles config files as `hookwright compile` does, but writes nothing. */
export async function compileFiles(options: CompileFilesOptions = {}): Promise<Compiled> {
  return compiled({ ...inputOf(options), configs: options.config ?? [] });
}

/** Checks and lowers subscriptions against a table; see `lowerSubscriptions` of `createService`. */
export type SubscriptionCompiler = (
  text: string,
  table: RouteTable,
  jobs: readonly JobRef[],
) => {
  readonly routes: readonly RoutePlan[];
  readonly rejected: readonly { readonly name: string; readonly reason: string }[];
};

/** Creates a compiler for a service with dynamic subscriptions. It throws if the text is not a map of subscriptions. */
export function subscriptionCompiler(options: Omit<CompileOptions, 'flags' | 'jobs'> = {}): SubscriptionCompiler {
  const machine = machineOf(options);
  return (text, table, jobs) => compileSubscriptions(text, { table, facts: createMachineFacts(machine, jobs), rules });
}

const modules = await loadCompilerParts(MODULES);
const rules = rulesInForce(modules);
let catalog: ShippedCatalog | null = null;

function machineOf({ home, env = process.env, cwd = process.cwd() }: CompileOptions) {
  const named = env.HOOKWRIGHT_HOME;
  const usual = named === undefined || named === '' ? join(env.HOME || homedir(), '.hookwright') : named;
  return { home: resolve(cwd, home ?? usual), env: { ...env }, cwd };
}

function inputOf(options: CompileOptions): CompileInput {
  // Read once per process, because it has a hundred entries.
  catalog ??= readShippedCatalog();
  const { flags = {}, jobs = [] } = options;
  return {
    ...machineOf(options),
    ...{ files: nodeFiles, configs: [], flags, catalog, jobs, modules },
  };
}

function compiled(input: CompileInput): Compiled {
  const { output, diagnostics } = compile(input);
  if (output === null) return { table: null, blueprints: null, diagnostics };
  return { table: output.table, blueprints: output.catalog(), diagnostics };
}
