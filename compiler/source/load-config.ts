/** Finds and reads the config files: the root (decisions §2), then the files that it includes, each once. */
import { dirname, join } from 'node:path';
import type { Finding } from '../diagnostics/diagnostic.ts';
import { isGlob } from '../globs/path-glob.ts';
import { HOW_TO_START } from '../text/how-to-start.ts';
import { isPlainMap } from '../text/plain-map.ts';
import type { Range, SourceText } from '../text/source-text.ts';
import { START } from '../text/source-text.ts';
import { displayPath } from './display-path.ts';
import { expandGlob } from './expand-glob.ts';
import type { HomeDisk } from './files.ts';
import { LocationIndex, locate } from './locate.ts';
import type { ParsedFile } from './parse-yaml.ts';
import { parseYaml } from './parse-yaml.ts';
import { readText } from './read-text.ts';
import { explainMissing, searchConfig, usualConfigs } from './search-config.ts';

export interface ConfigSearch extends HomeDisk {
  /** Paths and globs from `--config`. If empty: `./hookwright.yaml`, else `<home_dir>/config.yaml`. */
  readonly configs: readonly string[];
}

export interface LoadedConfig {
  /** Path of the first config file. `build/` and positions in the table are relative to its folder. */
  readonly root: string;
  /** The files that could be parsed, in the order in which they were named. */
  readonly files: readonly ParsedFile[];
  /** Absolute paths of configs that are not read because another one takes precedence. */
  readonly ignored: readonly string[];
  readonly findings: readonly Finding[];
  /** A file is missing or not YAML, so the config cannot be checked as a whole. */
  readonly incomplete: boolean;
}

/** A requested file, and the position of the request, at which a missing file is reported. */
interface Request {
  readonly path: string;
  readonly from: { readonly source: SourceText; readonly range: Range } | null;
}

interface Loading {
  readonly search: ConfigSearch;
  readonly seen: Set<string>;
  readonly files: ParsedFile[];
  readonly ignored: string[];
  readonly findings: Finding[];
  incomplete: boolean;
}

/** Never throws: missing and unreadable files become findings. */
export function loadConfig(search: ConfigSearch): LoadedConfig {
  const loading: Loading = { search, seen: new Set(), files: [], ignored: [], findings: [], incomplete: false };
  const roots = rootFiles(loading);
  for (const path of roots) load(loading, { path, from: null });
  const root = roots[0] ?? usualConfigs(search)[0];
  const { files, ignored, findings, incomplete } = loading;
  return { root, files, ignored, findings, incomplete };
}

function rootFiles(loading: Loading): readonly string[] {
  const { files, cwd, home, configs } = loading.search;
  if (configs.length === 0) {
    const found = searchConfig(files, { cwd, home });
    loading.ignored.push(...found.ignored);
    if (found.root !== null) return [found.root];
    const { message, hint } = explainMissing(files, { cwd, home });
    complain(loading, usualConfigs({ cwd, home })[0], message, null, hint);
    return [];
  }
  return configs.flatMap((pattern) => {
    const paths = expandGlob(files, cwd, pattern);
    if (paths instanceof Error) {
      complain(loading, join(cwd, pattern), paths.message);
      return [];
    }
    if (paths.length === 0) complain(loading, join(cwd, pattern), `no file matches \`${pattern}\``);
    return paths;
  });
}

function load(loading: Loading, request: Request): void {
  const { files, cwd } = loading.search;
  const identity = files.realpath(request.path) ?? request.path;
  if (loading.seen.has(identity)) return;
  loading.seen.add(identity);
  const read = readText(files, request.path);
  if (!read.ok) {
    complain(loading, request.path, read.message, request.from);
    return;
  }
  const source: SourceText = { path: request.path, name: displayPath(request.path, cwd), text: read.text };
  const parsed = parseYaml(source);
  loading.findings.push(...parsed.findings);
  if (parsed.file === null) loading.incomplete = true;
  else addFile(loading, parsed.file, request.from === null);
}

function addFile(loading: Loading, file: ParsedFile, isRoot: boolean): void {
  const { source, value } = file;
  if (!isPlainMap(value)) {
    const range = { start: 0, end: source.text.length };
    const hint = Array.isArray(value)
      ? 'remove the `-`, or run `hookwright convert adnanh` where these are hooks of adnanh/webhook'
      : 'write `platforms:`, with its content below';
    loading.findings.push({ rule: 'wrong-type', source, range, message: 'a config file is a map of settings', hint });
    loading.incomplete = true;
    return;
  }
  loading.files.push(file);
  if (isRoot && Object.keys(value).length === 0) {
    const message = 'this file configures nothing: no route, no job, no target';
    loading.findings.push({ rule: 'empty-config', source, range: START, message, hint: HOW_TO_START });
  }
  const { include } = value;
  if (include === undefined) return;
  const index = new LocationIndex();
  if (!Array.isArray(include)) {
    const range = locate(file, ['include'], index).value;
    const message = '`include` must be a list of paths and globs: write `include: [routes/*.yaml]`';
    loading.findings.push({ rule: 'wrong-type', source, range, message });
    return;
  }
  include.forEach((pattern: unknown, i) => {
    follow(loading, file, { pattern, range: locate(file, ['include', i], index).value });
  });
}

function follow(loading: Loading, file: ParsedFile, entry: { readonly pattern: unknown; readonly range: Range }): void {
  const { source } = file;
  const { pattern, range } = entry;
  if (typeof pattern !== 'string' || pattern === '') {
    loading.findings.push({ rule: 'wrong-type', source, range, message: 'an include is a path or a glob' });
    return;
  }
  const paths = expandGlob(loading.search.files, dirname(source.path), pattern);
  if (paths instanceof Error) {
    loading.findings.push({ rule: 'wrong-type', source, range, message: paths.message });
    return;
  }
  if (paths.length === 0) {
    loading.findings.push({ rule: 'empty-include', source, range, message: `no file matches \`${pattern}\`` });
  }
  for (const path of paths) load(loading, { path, from: isGlob(pattern) ? null : { source, range } });
}

/** Reports at the `include` that names the file, else at the (unread) file itself. */
function complain(loading: Loading, path: string, message: string, from: Request['from'] = null, hint?: string): void {
  const name = displayPath(path, loading.search.cwd);
  loading.incomplete = true;
  const place = from ?? { source: { path, name, text: '' }, range: START };
  const text = from === null ? message : `the included file \`${name}\` ${message}`;
  loading.findings.push({ rule: 'unreadable-file', ...place, message: text, ...(hint === undefined ? {} : { hint }) });
}
