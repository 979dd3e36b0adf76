/** Reads the shipped catalog. */
import { assetFolder } from '../../base/files.ts';
import type { ShippedCatalog } from '../source/load-catalog.ts';
import { loadShippedCatalog } from '../source/load-catalog.ts';
import { nodeFiles } from './node-files.ts';

export const readShippedCatalog = (): ShippedCatalog => loadShippedCatalog(nodeFiles, assetFolder('catalog'));
