/** A source tree with a single file, such as a catalog entry or a profile's config. */

import { LocationIndex, locate } from './locate.ts';
import type { ParsedFile } from './parse-yaml.ts';
import type { SourceTree } from './source-tree.ts';

/** Looks up places in one or several files. */
export type Places = Pick<SourceTree, 'place' | 'files'>;

export function fileTree(file: ParsedFile): Places {
  const index = new LocationIndex();
  return { files: [file], place: (path) => ({ ...locate(file, path, index), file }) };
}
