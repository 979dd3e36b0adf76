/** Loads one file with a schema: reads, parses and validates it, and keeps the positions of its values. */
import type { Finding } from '../diagnostics/diagnostic.ts';
import type { Problem } from '../diagnostics/problem.ts';
import { isError } from '../diagnostics/rule.ts';
import { knownKeys } from '../schema/known-keys.ts';
import type { FileTypes } from '../schema/validate.ts';
import { checkShape } from '../schema/validate.ts';
import { isPlainMap } from '../text/plain-map.ts';
import type { Places } from './file-tree.ts';
import { fileTree } from './file-tree.ts';
import type { Disk } from './files.ts';
import { findPlace } from './find-place.ts';
import { readYamlFile } from './read-yaml-file.ts';

export interface LoadedFile<T> {
  readonly value: T;
  readonly tree: Places;
}

export interface FileRequest<S extends keyof FileTypes> extends Disk {
  readonly path: string;
  readonly schema: S;
}

/** A YAML file that does not match its schema. */
export interface MisshapenFile {
  readonly value: unknown;
  readonly tree: Places;
  readonly problems: readonly Problem[];
}

export interface FileResult<T> {
  readonly file: LoadedFile<T> | null;
  /** For checking the valid parts; null if `file` is not, or if the file is not YAML. */
  readonly misshapen: MisshapenFile | null;
  readonly findings: readonly Finding[];
}

/** `file` is null, and findings say why, unless the file matches its schema. */
export function loadFile<S extends keyof FileTypes>({
  path,
  schema,
  ...disk
}: FileRequest<S>): FileResult<FileTypes[S]> {
  const { file, findings } = readYamlFile(disk, path);
  if (file === null || findings.some(isError)) return { file: null, misshapen: null, findings };
  const tree = fileTree(file);
  const problems = isPlainMap(file.value) ? checkShape(schema, file.value) : [noMap(schema)];
  if (problems.length > 0) {
    const misshapen = { value: file.value, tree, problems };
    const all = [...findings, ...problems.map((problem) => findPlace(problem, tree))];
    return { file: null, misshapen, findings: all };
  }
  // The validator has checked the type.
  return { file: { value: file.value as FileTypes[S], tree }, misshapen: null, findings };
}

function noMap(schema: keyof FileTypes): Problem {
  const keys = knownKeys(schema, [])
    .slice(0, 2)
    .map((key) => `\`${key}\``);
  return { rule: 'wrong-type', path: [], at: 'value', message: `a ${schema} is a map with ${keys.join(', ')}, …` };
}
