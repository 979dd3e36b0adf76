/** `hookwright/compiler`, for programs that embed it: compiles configs to tables and diagnostics, with the modules of this program. */
import { compiledOf, compileWith } from './compile.ts';
import type { Compiled, CompileOptions } from './compile-types.ts';
import { MODULES } from './modules.ts';

export type { Flags } from '../compiler/config/settings.ts';
export type { Diagnostic, RelatedPlace } from '../compiler/diagnostics/diagnostic.ts';
export type { Rule, RuleGroup, RuleId, Severity } from '../compiler/diagnostics/rule.ts';
export { RULE_GROUPS, RULES } from '../compiler/diagnostics/rule.ts';
export type { DiagnosticFormat } from '../compiler/print/print.ts';
export { DIAGNOSTIC_FORMATS, printDiagnostics } from '../compiler/print/print.ts';
export type { Range, SourceText } from '../compiler/text/source-text.ts';
export type { JobRef } from '../compiler/views/views.ts';
export type { Compiled, CompileOptions } from './compile-types.ts';

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
