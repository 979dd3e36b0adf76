/** The catalog that comes with this program. */
import { fileURLToPath } from 'node:url';
import type { ShippedCatalog } from '../../compiler/shipped-catalog.ts';
import { loadShippedCatalog } from '../../compiler/shipped-catalog.ts';
import { nodeFiles } from './node-files.ts';

const FOLDER = fileURLToPath(new URL('../../catalog', import.meta.url));

export const readShippedCatalog = (): ShippedCatalog => loadShippedCatalog(nodeFiles, FOLDER);
