/** Reads the shipped catalog. */
import { assetFolder } from '../../base/assets.ts';
import type { ShippedCatalog } from '../source/shipped-catalog.ts';
import { loadShippedCatalog } from '../source/shipped-catalog.ts';
import { nodeFiles } from './node-files.ts';

export const readShippedCatalog = (): ShippedCatalog => loadShippedCatalog(nodeFiles, assetFolder('catalog'));
