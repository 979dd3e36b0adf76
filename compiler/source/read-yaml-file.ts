/** Reads and parses one YAML file. */
import type { SourceText } from '../text/source-text.ts';
import { displayPath } from './display-path.ts';
import type { Disk } from './files.ts';
import type { ParseResult } from './parse-yaml.ts';
import { parseYaml } from './parse-yaml.ts';
import { readText, unreadable } from './read-text.ts';

export interface YamlRead extends ParseResult {
  readonly source: SourceText;
  readonly isMissing: boolean;
}

/** @param path absolute */
export function readYamlFile({ files, cwd }: Disk, path: string): YamlRead {
  const read = readText(files, path);
  const source = { path, name: displayPath(path, cwd), text: read.ok ? read.text : '' };
  if (read.ok) return { ...parseYaml(source), source, isMissing: false };
  return { file: null, findings: [unreadable(source, read.message)], source, isMissing: read.missing };
}
