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

/**
 * Options of `compileText`.
 *
 * @example
 * ```ts
 * import type { CompileTextOptions } from 'hookwright/compiler';
 *
 * const options: CompileTextOptions = { file: 'config/hooks.yaml', home: '/var/lib/app', env: {} };
 * ```
 */
export interface CompileTextOptions extends CompileOptions {
  /** File name of the text, for diagnostics and relative includes. Default: `hookwright.yaml`. */
  readonly file?: string;
}

/**
 * Options of `compileFiles`.
 *
 * @example
 * ```ts
 * import type { CompileFilesOptions } from 'hookwright/compiler';
 *
 * const options: CompileFilesOptions = { config: ['hookwright.yaml', 'routes/*.yaml'], cwd: '/var/lib/app', env: {} };
 * ```
 */
export interface CompileFilesOptions extends CompileOptions {
  /** Paths and globs. Default: `./hookwright.yaml`, else `<home_dir>/config.yaml`. */
  readonly config?: readonly string[];
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

/**
 * Compiles a config given as text. Files that it includes are read; nothing is written. Every problem of the config is a
 * diagnostic: the promise does not reject because of it.
 *
 * @param yaml the config
 * @param options file name, home and environment; each has a default
 *
 * @example
 * ```ts
 * import { compileText, printDiagnostics } from 'hookwright/compiler';
 *
 * const yaml = 'platforms: { webhook: { enabled: true, secret: "env:SECRET", routes: { issues: { prompt: "{title}" } } } }';
 * const env = { SECRET: 'at-least-16-bytes-long' };
 *
 * const { table, diagnostics } = await compileText(yaml, { file: 'hookwright.yaml', home: '/var/lib/app', env });
 * console.error(printDiagnostics('pretty', diagnostics, { color: false, width: 100 }));
 * if (table !== null) console.log(Object.keys(table.routes));
 * ```
 */
export async function compileText(yaml: string, options: CompileTextOptions = {}): Promise<Compiled> {
  const input = inputOf(options);
  const path = resolve(input.cwd, options.file ?? 'hookwright.yaml');
  return compiled({ ...input, files: overlayFiles(nodeFiles, new Map([[path, yaml]])), configs: [path] });
}

/**
 * Compiles config files as `hookwright compile` does, but writes nothing. Every problem, a missing file included, is a
 * diagnostic: the promise does not reject because of it.
 *
 * @param options paths and globs, home and environment; each has a default
 *
 * @example
 * ```ts
 * import { compileFiles } from 'hookwright/compiler';
 *
 * const { diagnostics } = await compileFiles({ config: ['/var/lib/app/missing.yaml'], home: '/var/lib/app', env: {} });
 * console.log(diagnostics.map(({ severity, rule }) => `${severity} ${rule}`));
 * ```
 */
export async function compileFiles(options: CompileFilesOptions = {}): Promise<Compiled> {
  return compiled({ ...inputOf(options), configs: options.config ?? [] });
}

/**
 * Checks and lowers dynamic subscriptions against a table; `lowerSubscriptions` of `createService` takes it. An entry with
 * an error is in `rejected`, with its first error as the reason; the others are in `routes`.
 *
 * @param text the text of `webhook_subscriptions.json`, a map of routes by name
 * @param table the table that the subscriptions are added to
 * @param jobs jobs of the store, which a subscription may name
 * @throws Error if the text is not a JSON object
 *
 * @example
 * ```ts
 * import type { SubscriptionCompiler } from 'hookwright/compiler';
 * import { subscriptionCompiler } from 'hookwright/compiler';
 *
 * const lower: SubscriptionCompiler = subscriptionCompiler({ home: '/var/lib/app', env: {} });
 * ```
 */
export type SubscriptionCompiler = (
  text: string,
  table: RouteTable,
  jobs: readonly JobRef[],
) => {
  readonly routes: readonly RoutePlan[];
  readonly rejected: readonly { readonly name: string; readonly reason: string }[];
};

/**
 * Creates the compiler of dynamic subscriptions for a service.
 *
 * @param options home, environment and base of relative paths, as in `compileText`; each has a default
 * @returns a function, which throws if its text is not a JSON object
 *
 * @example
 * ```ts
 * import { compileText, subscriptionCompiler } from 'hookwright/compiler';
 *
 * const yaml = 'platforms: { webhook: { enabled: true, secret: "env:SECRET", routes: { issues: { prompt: "{title}" } } } }';
 * const env = { SECRET: 'at-least-16-bytes-long' };
 *
 * const { table } = await compileText(yaml, { home: '/var/lib/app', env });
 * if (table === null) throw new Error('the config has errors');
 * const lower = subscriptionCompiler({ home: '/var/lib/app', env });
 * const { routes, rejected } = lower('{"alerts":{"prompt":"{text}"},"wrong":{"promt":""}}', table, []);
 * console.log(routes.length, rejected); // 1, and the reason why `wrong` is not served
 * ```
 */
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
