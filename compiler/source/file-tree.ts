/** One file as a tree of its own (a catalog entry, a profile's config): the same way back from values to places. */

import { LocationIndex, locate } from './locate.ts';
import type { ParsedFile } from './parse-yaml.ts';
import type { SourceTree } from './source-tree.ts';

/** Places of one or several files. */
export type Places = Pick<SourceTree, 'place' | 'files'>;

export function fileTree(file: ParsedFile): Places {
  const index = new LocationIndex();
  return { files: [file], place: (path) => ({ ...locate(file, path, index), file }) };
}
