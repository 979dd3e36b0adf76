/** Reads the configuration without its rules, for commands that need a setting of it also while others are invalid. */
import type { Finding } from '../../compiler/diagnostics/diagnostic.ts';
import { nodeFiles } from '../../compiler/node/node-files.ts';
import { loadConfig } from '../../compiler/source/load-config.ts';
import { searchConfig } from '../../compiler/source/search-config.ts';
import type { SourceTree } from '../../compiler/source/source-tree.ts';
import { mergeFiles } from '../../compiler/source/source-tree.ts';
import type { CliContext } from '../base/context.ts';

export interface ReadConfig {
  /** Null: there is none, or it cannot be read. */
  readonly tree: SourceTree | null;
  /** Why it cannot be read. */
  readonly findings: readonly Finding[];
}

export function readConfig({ cwd, home }: CliContext, configs: readonly string[]): ReadConfig {
  if (configs.length === 0 && searchConfig(nodeFiles, { cwd, home }).root === null) return { tree: null, findings: [] };
  const { files, incomplete, findings } = loadConfig({ files: nodeFiles, cwd, home, configs });
  if (incomplete || files.length === 0) return { tree: null, findings };
  return { tree: mergeFiles(files).tree, findings: [] };
}
