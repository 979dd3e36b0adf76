/** The catalog that comes with this program. */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ShippedCatalog } from '../shipped-catalog.ts';
import { loadShippedCatalog } from '../shipped-catalog.ts';
import { readText } from '../source/read-text.ts';
import { nodeFiles } from './node-files.ts';

const FOLDER = fileURLToPath(new URL('../../catalog', import.meta.url));

export const readShippedCatalog = (): ShippedCatalog => loadShippedCatalog(nodeFiles, FOLDER);

/** The text of a shipped shape, by the canonical name of its source; null: there is none. */
export function readShippedShape(source: string): string | null {
  const read = readText(nodeFiles, join(FOLDER, 'shapes', `${source}.json`));
  return read.ok ? read.text : null;
}
