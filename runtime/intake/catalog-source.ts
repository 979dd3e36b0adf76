/** Sources of the blueprint catalog: a file that may change, or a value that the embedding program passes. */
import type { Catalog } from '../../schemas/generated/types.ts';
import type { Clock } from '../platform/clock.ts';
import type { GatewayFiles } from '../platform/node-files.ts';
import { FileVersion } from '../table/file-version.ts';

export interface CatalogSource {
  /** Its file, for messages; null when there is none. */
  readonly file: string | null;
  /** Resolves to the text if it may have changed since the last call; null: it has not; undefined: there is no catalog. */
  read(): Promise<string | null | undefined>;
}

/** A catalog in a file, which may be missing. @param path of `blueprints.json`, absolute */
export function catalogFile(
  path: string,
  { stat, readText }: Pick<GatewayFiles, 'stat' | 'readText'>,
  clock: Clock,
): CatalogSource {
  const version = new FileVersion();
  return {
    file: path,
    read: async () => {
      const found = stat(path);
      if (!version.differs(found)) return null;
      version.note(found, clock.now());
      return found === undefined ? undefined : readText(path);
    },
  };
}

/** A catalog in memory; an empty one counts as none. */
export function catalogValue(catalog: Catalog): CatalogSource {
  let text: string | null | undefined = catalog.length === 0 ? undefined : JSON.stringify(catalog);
  return {
    file: null,
    read: async () => {
      const fresh = text;
      text = null;
      return fresh;
    },
  };
}
