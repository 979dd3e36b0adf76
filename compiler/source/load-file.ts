/** Loads one file with a schema: reads, parses and validates it, and keeps the positions of its values. */
import type { Finding } from '../diagnostics/diagnostic.ts';
import type { Problem } from '../diagnostics/problem.ts';
import type { FileTypes } from '../schema/validate.ts';
import { checkShape } from '../schema/validate.ts';
import { displayPath } from './display-path.ts';
import type { Places } from './file-tree.ts';
import { fileTree } from './file-tree.ts';
import type { Files } from './files.ts';
import { findPlace } from './find-place.ts';
import { parseYaml } from './parse-yaml.ts';
import { readText, unreadable } from './read-text.ts';

export interface LoadedFile<T> {
  readonly value: T;
  readonly tree: Places;
}

export interface FileRequest<S extends keyof FileTypes> {
  readonly files: Files;
  /** Diagnostics show paths relative to it. */
  readonly cwd: string;
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
export function loadFile<S extends keyof FileTypes>(request: FileRequest<S>): FileResult<FileTypes[S]> {
  const { files, cwd, path, schema } = request;
  const read = readText(files, path);
  const source = { path, name: displayPath(path, cwd), text: read.ok ? read.text : '' };
  if (!read.ok) {
    return { file: null, misshapen: null, findings: [unreadable(source, read.message)] };
  }
  const parsed = parseYaml(source);
  if (parsed.file === null || parsed.findings.length > 0)
    return { file: null, misshapen: null, findings: parsed.findings };
  const tree = fileTree(parsed.file);
  const problems = checkShape(schema, parsed.file.value);
  if (problems.length > 0) {
    const misshapen = { value: parsed.file.value, tree, problems };
    return { file: null, misshapen, findings: problems.map((problem) => findPlace(problem, tree)) };
  }
  // The validator has checked the type.
  return { file: { value: parsed.file.value as FileTypes[S], tree }, misshapen: null, findings: [] };
}
