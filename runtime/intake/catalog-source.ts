/** Where the blueprint catalog comes from: a file that may change, or a value that a program hands over. */
import type { Catalog } from '../../schemas/generated/types.ts';
import type { Clock } from '../platform/clock.ts';
import type { GatewayFiles } from '../platform/node-files.ts';
import { FileVersion } from '../table/file-version.ts';

export interface CatalogSource {
  /** Its file, for messages; null: none. */
  readonly file: string | null;
  /** The text when it may have changed since the last call; null: it has not, undefined: there is none. */
  read(): Promise<string | null | undefined>;
}

/** `blueprints.json`, absolute; it may be missing. */
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

/** A catalog in memory; an empty one is none. */
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

/** A source that another one may take the place of. */
export class SwappableCatalog implements CatalogSource {
  private source: CatalogSource;

  constructor(source: CatalogSource) {
    this.source = source;
  }

  get file(): string | null {
    return this.source.file;
  }

  read(): Promise<string | null | undefined> {
    return this.source.read();
  }

  use(source: CatalogSource): void {
    this.source = source;
  }
}
