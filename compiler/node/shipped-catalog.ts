/** Reads the shipped catalog. */
import { join } from 'node:path';
import { assetFolder } from '../../base/assets.ts';
import type { ShapeTexts } from '../../modules/payloads/compiler/shapes/shape-file.ts';
import type { ShippedCatalog } from '../shipped-catalog.ts';
import { loadShippedCatalog } from '../shipped-catalog.ts';
import { readText } from '../source/read-text.ts';
import { nodeFiles } from './node-files.ts';

export const readShippedCatalog = (): ShippedCatalog => loadShippedCatalog(nodeFiles, assetFolder('catalog'));

/** Reads the shipped payload shapes of a source. @param source canonical name @returns null if there are none */
export function readShippedShape(source: string): ShapeTexts | null {
  const folder = assetFolder('catalog');
  const shape = readText(nodeFiles, join(folder, 'shapes', `${source}.json`));
  if (!shape.ok) return null;
  const review = readText(nodeFiles, join(folder, 'writers', `${source}.json`));
  return { shape: shape.text, review: review.ok ? review.text : null };
}
