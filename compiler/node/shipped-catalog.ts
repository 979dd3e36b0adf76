/** The catalog that comes with this program. */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ShapeTexts } from '../shapes/shape-file.ts';
import type { ShippedCatalog } from '../shipped-catalog.ts';
import { loadShippedCatalog } from '../shipped-catalog.ts';
import { readText } from '../source/read-text.ts';
import { nodeFiles } from './node-files.ts';

const FOLDER = fileURLToPath(new URL('../../catalog', import.meta.url));

export const readShippedCatalog = (): ShippedCatalog => loadShippedCatalog(nodeFiles, FOLDER);

/** What is shipped about payloads, by the canonical name of their source; null: nothing. */
export function readShippedShape(source: string): ShapeTexts | null {
  const shape = readText(nodeFiles, join(FOLDER, 'shapes', `${source}.json`));
  if (!shape.ok) return null;
  const review = readText(nodeFiles, join(FOLDER, 'writers', `${source}.json`));
  return { shape: shape.text, review: review.ok ? review.text : null };
}
