/** The input of the compiler. */

import type { Flags } from './config/settings.ts';
import type { CompilerPart } from './module.ts';
import type { ShippedCatalog } from './source/load-catalog.ts';
import type { ConfigSearch } from './source/load-config.ts';
import type { JobRef } from './views/views.ts';

/** Everything that the result depends on: the same input gives the same result. */
export interface CompileInput extends ConfigSearch {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly flags: Flags;
  /** See `loadShippedCatalog`. */
  readonly catalog: ShippedCatalog;
  readonly modules: readonly CompilerPart[];
  /** Jobs in the store, which `cron_job` may also name. */
  readonly jobs: readonly JobRef[];
}
