/** The compiler's API for programs that embed it: compiles a text or files to a table and diagnostics. */
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Catalog, RoutePlan, RouteTable } from '../../schemas/generated/types.ts';
import type { CompileInput } from '../compile.ts';
import { compile } from '../compile.ts';
import { compileSubscriptions } from '../compile-subscriptions.ts';
import type { Flags } from '../config/overrides.ts';
import type { Diagnostic } from '../diagnostics/diagnostic.ts';
import type { ShippedCatalog } from '../shipped-catalog.ts';
import { overlayFiles } from '../source/overlay-files.ts';
import type { JobRef } from '../views/machine-facts.ts';
import { createMachineFacts } from './machine-facts.ts';
import { nodeFiles } from './node-files.ts';
import { readShippedCatalog, readShippedShape } from './shipped-catalog.ts';

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
  return (text, table, jobs) => compileSubscriptions(text, table, createMachineFacts(machine, jobs));
}

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
    ...{ files: nodeFiles, configs: [], flags, catalog, readShape: readShippedShape, jobs },
  };
}

function compiled(input: CompileInput): Compiled {
  const { output, diagnostics } = compile(input);
  if (output === null) return { table: null, blueprints: null, diagnostics };
  return { table: output.table, blueprints: output.catalog(), diagnostics };
}
