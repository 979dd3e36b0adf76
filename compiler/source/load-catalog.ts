/** Loads the files of one catalog folder, shipped or of the user. */
import { join } from 'node:path';
import type { TargetFile } from '../../schemas/generated/types.ts';
import { completeTarget } from '../config/like-target.ts';
import type { Finding } from '../diagnostics/diagnostic.ts';
import type { FileTypes } from '../schema/validate.ts';
import type { Places } from './file-tree.ts';
import type { Disk, Files } from './files.ts';
import { loadFile } from './load-file.ts';

export interface CatalogEntry<T> {
  readonly name: string;
  readonly value: T;
  readonly tree: Places;
}

export interface CatalogFolder<S extends keyof FileTypes> extends Disk {
  /** Absolute path. A missing folder counts as empty. */
  readonly folder: string;
  readonly schema: S;
}

/** The file name without its extension is the entry's name. */
export function loadCatalogFolder<S extends keyof FileTypes>({
  files,
  cwd,
  folder,
  schema,
}: CatalogFolder<S>): {
  readonly entries: readonly CatalogEntry<FileTypes[S]>[];
  readonly findings: readonly Finding[];
} {
  const findings: Finding[] = [];
  const entries = catalogFiles(files, folder).flatMap((fileName): readonly CatalogEntry<FileTypes[S]>[] => {
    const loaded = loadFile({ files, cwd, path: join(folder, fileName), schema });
    findings.push(...loaded.findings);
    const name = fileName.replace(/\.ya?ml$/, '');
    return loaded.file === null ? [] : [{ name, ...loaded.file }];
  });
  if (schema !== 'target') return { entries, findings };
  const byName = new Map(entries.map(({ name, value }) => [name, value as TargetFile]));
  return {
    entries: entries.map((entry) => ({
      ...entry,
      value: completeTarget(entry.value as TargetFile, (name) => byName.get(name)) as FileTypes[S],
    })),
    findings,
  };
}

const catalogFiles = (files: Files, folder: string): readonly string[] =>
  files
    .list(folder)
    .filter((name) => /^[^.].*\.ya?ml$/.test(name))
    .toSorted();
