/** Options and results of a compile, for programs that embed the package. */
import type { Flags } from '../compiler/config/settings.ts';
import type { Diagnostic } from '../compiler/diagnostics/diagnostic.ts';
import type { JobRef } from '../compiler/views/views.ts';
import type { Catalog, RouteTable } from '../schemas/generated/types.ts';

/**
 * Options of a compile. The defaults are those of the command line.
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
