/** Positions of entries as the table records them: a line, and a file relative to the root config's folder. */
import { relative, sep } from 'node:path';
import type { Place } from '../../schemas/generated/types.ts';
import type { NodePath } from '../diagnostics/problem.ts';
import { createLines } from '../print/lines.ts';
import type { Places } from './file-tree.ts';

export interface Placer {
  placeOf(tree: Places, path: NodePath): Place;
}

/** @param folder absolute path of the root config's folder; relative paths make the table independent of the machine */
export function createPlacer(folder: string): Placer {
  const lines = createLines();
  return {
    placeOf(tree, path) {
      const { file, key, value } = tree.place(path);
      const { line } = lines.positionOf(file.source, (key ?? value).start);
      return { file: relative(folder, file.source.path).split(sep).join('/'), line };
    },
  };
}
