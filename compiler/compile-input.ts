/** The input of the compiler. */

import type { ShapeTexts } from '../modules/payloads/compiler/shapes/shape-file.ts';
import type { Flags } from './config/overrides.ts';
import type { ShippedCatalog } from './shipped-catalog.ts';
import type { ConfigSearch } from './source/load-config.ts';
import type { JobRef } from './views/machine-facts.ts';

/** Everything that the result depends on: the same input gives the same result. */
export interface CompileInput extends ConfigSearch {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly flags: Flags;
  /** See `loadShippedCatalog`. */
  readonly catalog: ShippedCatalog;
  /** Returns the shipped payload shapes of a source, or null if there are none. Called only for sources in use. */
  readonly readShape: (source: string) => ShapeTexts | null;
  /** Jobs in the store, which `cron_job` may also name. */
  readonly jobs: readonly JobRef[];
}
