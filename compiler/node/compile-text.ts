/** The compiler for programs that embed it: one text, or the files of this machine, in; table and diagnostics out. */
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

/** Everything has a default, which is what the command line does. */
export interface CompileOptions {
  /** `<home_dir>`. Default: `$HOOKWRIGHT_HOME`, else `~/.hookwright`. */
  readonly home?: string;
  /** Variables that stand above the config, and that secrets may name. Default: as the process has them now. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Where relative paths start. Default: the working directory. */
  readonly cwd?: string;
  /** What takes precedence over the environment. */
  readonly flags?: Flags;
  /** Jobs of the store, which `cron_job` may name as well. */
  readonly jobs?: readonly JobRef[];
}

export interface CompileTextOptions extends CompileOptions {
  /** Name of the text in diagnostics; what it includes is relative to its folder. Default: `hookwright.yaml`. */
  readonly file?: string;
}

export interface CompileFilesOptions extends CompileOptions {
  /** Paths and globs. Default: `./hookwright.yaml`, else `<home_dir>/config.yaml`. */
  readonly config?: readonly string[];
}

/** Diagnostics are sorted by file and position, warnings included. Without a table, one of them is an error. */
export type Compiled =
  | {
      readonly table: RouteTable;
      /** What `GET /blueprints` answers. */
      readonly blueprints: Catalog;
      readonly diagnostics: readonly Diagnostic[];
    }
  | { readonly table: null; readonly blueprints: null; readonly diagnostics: readonly Diagnostic[] };

/** Compiles a config that need not be a file. Never rejects for what a user can write: every problem is a diagnostic. */
export async function compileText(yaml: string, options: CompileTextOptions = {}): Promise<Compiled> {
  const input = inputOf(options);
  const path = resolve(input.cwd, options.file ?? 'hookwright.yaml');
  return compiled({ ...input, files: overlayFiles(nodeFiles, new Map([[path, yaml]])), configs: [path] });
}

/** Compiles the config files of this machine, as `hookwright compile` does, and writes nothing. */
export async function compileFiles(options: CompileFilesOptions = {}): Promise<Compiled> {
  return compiled({ ...inputOf(options), configs: options.config ?? [] });
}

/** Checks and lowers subscriptions over a table; see `lowerSubscriptions` of `createService`. */
export type SubscriptionCompiler = (
  text: string,
  table: RouteTable,
  jobs: readonly JobRef[],
) => {
  readonly routes: readonly RoutePlan[];
  readonly rejected: readonly { readonly name: string; readonly reason: string }[];
};

/** For a service that takes dynamic subscriptions. It throws for a text that is no list of subscriptions. */
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
  // Read once a process: a hundred entries.
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
