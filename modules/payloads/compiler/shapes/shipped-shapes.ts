/** Reads the shipped payload shapes. */
import { join } from 'node:path';
import { assetFolder } from '../../../../base/assets.ts';
import { nodeFiles } from '../../../../compiler/node/node-files.ts';
import { readText } from '../../../../compiler/source/read-text.ts';
import type { Shape } from './shape.ts';
import { readShapeFile } from './shape-file.ts';

/** Returns the shapes of a source, or null if there are none. @param source canonical name */
export function readShippedShape(source: string): Shape | null {
  const folder = assetFolder('catalog');
  const shape = readText(nodeFiles, join(folder, 'shapes', `${source}.json`));
  if (!shape.ok) return null;
  const review = readText(nodeFiles, join(folder, 'writers', `${source}.json`));
  return readShapeFile({ shape: shape.text, review: review.ok ? review.text : null });
}
