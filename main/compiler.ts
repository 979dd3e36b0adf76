/** `hookwright/compiler`, for programs that embed it: compiles configs to tables and diagnostics, with the modules of this program. */
import type { Flags } from '../compiler/config/overrides.ts';
import type { Diagnostic } from '../compiler/diagnostics/diagnostic.ts';
import type { JobRef } from '../compiler/views/machine-facts.ts';
import type { Catalog, RouteTable } from '../schemas/generated/types.ts';
import { compiledOf, compileWith } from './compile.ts';
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
  readonly file?: string | undefined;
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
  readonly config?: readonly string[] | undefined;
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
export const compileText = async (yaml: string, options: CompileTextOptions = {}): Promise<Compiled> =>
  compiledOf(await compileWith(MODULES, { text: yaml, file: options.file ?? 'hookwright.yaml' }, options));

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
export const compileFiles = async (options: CompileFilesOptions = {}): Promise<Compiled> =>
  compiledOf(await compileWith(MODULES, { paths: options.config ?? [] }, options));
