/** What a compile is given. */
import type { Flags } from './config/overrides.ts';
import type { ShapeTexts } from './shapes/shape-file.ts';
import type { ShippedCatalog } from './shipped-catalog.ts';
import type { ConfigSearch } from './source/load-config.ts';
import type { JobRef } from './views/machine-facts.ts';

/** Everything a compile depends on: the same input gives the same result. */
export interface CompileInput extends ConfigSearch {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly flags: Flags;
  /** See `loadShippedCatalog`. */
  readonly catalog: ShippedCatalog;
  /** What is shipped about payloads, by the name of their source; null: nothing. Read for sources in use only. */
  readonly readShape: (source: string) => ShapeTexts | null;
  /** Jobs of the store, which `cron_job` may name as well. */
  readonly jobs: readonly JobRef[];
}
