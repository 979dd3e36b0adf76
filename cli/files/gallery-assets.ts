/** Reads the parts of the gallery page that are files: its style, its script and the browser build of the cron library. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { GalleryAssets } from '../../compiler/blueprints/gallery/print-gallery.ts';

const PAGE = fileURLToPath(new URL('../../compiler/blueprints/gallery/', import.meta.url));

export function readGalleryAssets(): GalleryAssets {
  const croner = dirname(createRequire(import.meta.url).resolve('croner/package.json'));
  const read = (...path: readonly [string, string]): string => readFileSync(join(...path), 'utf8');
  return {
    style: read(PAGE, 'gallery.css'),
    script: read(PAGE, 'gallery.js'),
    cron: read(croner, 'dist/croner.umd.js'),
    cronLicence: read(croner, 'LICENSE'),
  };
}
