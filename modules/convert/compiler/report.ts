/** Reports what happened to each part of a foreign config: kept, changed or lost. */

import type { NodePath } from '../../../compiler/diagnostics/problem.ts';
import type { Position } from '../../../compiler/print/lines.ts';
import { createLines } from '../../../compiler/print/lines.ts';
import { fileTree } from '../../../compiler/source/file-tree.ts';
import type { ParsedFile } from '../../../compiler/source/parse-yaml.ts';

export type Fate = 'carried' | 'changed' | 'lost';

export interface Entry {
  readonly fate: Fate;
  /** Path of the key in the foreign file. */
  readonly path: NodePath;
  readonly place: Position;
  /** Name of the converted route that the key belongs to, or null. */
  readonly route: string | null;
  /** Why it was changed or lost; empty if it was kept. Never contains a value from the file. */
  readonly reason: string;
  /** What the user can do about it, or empty. */
  readonly instead: string;
}

/** Receives what became of each key of the foreign file. Parameters are as in `Entry`. */
export interface KeyReport {
  carried(path: NodePath): void;
  changed(path: NodePath, reason: string, instead?: string): void;
  lost(path: NodePath, reason: string, instead?: string): void;
}

/** Its own methods are for keys that belong to no route. */
export interface ConversionReport extends KeyReport {
  /** For the keys of one converted route. */
  ofRoute(name: string): KeyReport;
  /** In file order. */
  entries(): readonly Entry[];
  placeOf(path: NodePath): Position;
}

export function createConversionReport(file: ParsedFile): ConversionReport {
  const places = fileTree(file);
  const lines = createLines();
  const entries: Entry[] = [];
  const placeOf = (path: NodePath): Position => {
    const { key, value } = places.place(path);
    return lines.positionOf(file.source, (key ?? value).start);
  };
  const keyReport = (route: string | null): KeyReport => {
    const note =
      (fate: Fate) =>
      (path: NodePath, reason = '', instead = ''): void => {
        entries.push({ fate, path, place: placeOf(path), route, reason, instead });
      };
    return { carried: note('carried'), changed: note('changed'), lost: note('lost') };
  };
  return {
    ...keyReport(null),
    ofRoute: keyReport,
    entries: () => entries.toSorted((a, b) => a.place.line - b.place.line || a.place.column - b.place.column),
    placeOf,
  };
}
