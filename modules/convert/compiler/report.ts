/** Reports what happened to each part of a foreign config: kept, changed or lost. */

import type { NodePath } from '../../../compiler/diagnostics/problem.ts';
import type { Position } from '../../../compiler/print/lines.ts';
import { createLines } from '../../../compiler/print/lines.ts';
import type { Places } from '../../../compiler/source/file-tree.ts';
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

/** An entry as converters add it. */
export interface Remark {
  readonly path: NodePath;
  readonly route?: string | null;
  readonly reason: string;
  readonly instead?: string;
}

export class ConversionReport {
  readonly #places: Places;
  readonly #source: ParsedFile['source'];
  readonly #lines = createLines();
  readonly #entries: Entry[] = [];

  constructor(file: ParsedFile) {
    this.#places = fileTree(file);
    this.#source = file.source;
  }

  carried(path: NodePath, route: string | null = null): void {
    this.#note('carried', { path, route, reason: '' });
  }

  changed(remark: Remark): void {
    this.#note('changed', remark);
  }

  lost(remark: Remark): void {
    this.#note('lost', remark);
  }

  /** In file order. */
  entries(): readonly Entry[] {
    return this.#entries.toSorted((a, b) => a.place.line - b.place.line || a.place.column - b.place.column);
  }

  placeOf(path: NodePath): Position {
    const { key, value } = this.#places.place(path);
    return this.#lines.positionOf(this.#source, (key ?? value).start);
  }

  #note(fate: Fate, { path, route = null, reason, instead = '' }: Remark): void {
    this.#entries.push({ fate, path, place: this.placeOf(path), route, reason, instead });
  }
}
