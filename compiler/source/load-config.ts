/** Finds and reads the config files: the root (decisions §2), the files that it includes, and the configs of profiles. */
import { basename, dirname, join, resolve } from 'node:path';
import { UnreadableFile } from '../../base/files.ts';
import type { Finding, Problem } from '../diagnostics/diagnostic.ts';
import { isError } from '../diagnostics/rule.ts';
import { isGlob, pathGlob } from '../globs/linear-glob.ts';
import { knownKeys } from '../schema/known-keys.ts';
import type { FileTypes } from '../schema/validate.ts';
import { checkShape } from '../schema/validate.ts';
import { HOW_TO_START, isPlainMap } from '../text/plain-data.ts';
import type { Range, SourceText } from '../text/source-text.ts';
import { START } from '../text/source-text.ts';
import type { Disk, Files, HomeDisk } from './files.ts';
import { displayPath, filesBelow, namedFolder, readText, readYamlFile } from './files.ts';
import type { Places } from './find-place.ts';
import { fileTree, findPlace } from './find-place.ts';
import { LocationIndex, locate } from './locate.ts';
import type { ParsedFile } from './parse-yaml.ts';
import { parseYaml } from './parse-yaml.ts';
import { explainMissing, searchConfig, usualConfigs } from './search-config.ts';

/** Finds and reads the config files: the root (decisions §2), then the files that it includes, each once. */
export interface ConfigSearch extends HomeDisk {
  /** Paths and globs from `--config`. If empty: `./hookwright.yaml`, else `<home_dir>/config.yaml`. */
  readonly configs: readonly string[];
  /** Folders whose files a config may name, besides its own: `--root`. */
  readonly allowed?: readonly string[] | undefined;
}

export interface LoadedConfig {
  /** Path of the first config file. `build/` and positions in the table are relative to its folder. */
  readonly root: string;
  /** The files that could be parsed, in the order in which they were named. */
  readonly files: readonly ParsedFile[];
  /** The file system, as far as the config may name its files. */
  readonly named: Files;
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
  named: Files;
  readonly seen: Set<string>;
  readonly files: ParsedFile[];
  readonly ignored: string[];
  readonly findings: Finding[];
  incomplete: boolean;
}

/** Never throws: missing and unreadable files become findings. */
export function loadConfig(search: ConfigSearch): LoadedConfig {
  const lists = { seen: new Set<string>(), files: [], ignored: [], findings: [] };
  const loading: Loading = { search, named: search.files, ...lists, incomplete: false };
  const roots = rootFiles(loading);
  loading.named = filesBelow(search.files, [
    ...roots.map((path) => (search.configs.length === 0 ? dirname(path) : namedFolder(search.files, search.cwd, path))),
    join(search.home, 'catalog'),
    ...(search.allowed ?? []),
  ]);
  for (const path of roots) load(loading, { path, from: null });
  const root = roots[0] ?? usualConfigs(search)[0];
  const { files, named, ignored, findings, incomplete } = loading;
  return { root, files, named, ignored, findings, incomplete };
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
  const { cwd } = loading.search;
  const files = loading.named;
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
      ? 'remove the `-`, or run `hookwright convert adnanh` if these are hooks of adnanh/webhook'
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
  const { include, home } = value;
  const index = new LocationIndex();
  const { configs, ...folders } = loading.search;
  if (home !== undefined && (!isRoot || (configs.length === 0 && source.path === usualConfigs(folders)[1]))) {
    const range = locate(file, ['home'], index).key ?? START;
    loading.findings.push({ rule: 'invalid-value', source, range, message: HOME_HERE });
  }
  if (include === undefined) return;
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
  const paths = expandGlob(loading.named, dirname(source.path), pattern);
  if (paths instanceof UnreadableFile) {
    complain(loading, resolve(dirname(source.path), pattern), paths.message, { source, range });
    return;
  }
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

/** Loads one file with a schema: reads, parses and validates it, and keeps the positions of its values. */
interface LoadedFile<T> {
  readonly value: T;
  readonly tree: Places;
}

interface FileRequest<S extends keyof FileTypes> extends Disk {
  readonly path: string;
  readonly schema: S;
}

/** A YAML file that does not match its schema. */
export interface MisshapenFile {
  readonly value: unknown;
  readonly tree: Places;
  readonly problems: readonly Problem[];
}

interface FileResult<T> {
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

/** Loads the configs of profiles other than `default`: `<home_dir>/profiles/<name>/config.yaml`, which is optional. */
interface LoadedProfile {
  readonly name: string;
  /** Relative to `<home_dir>`. */
  readonly home: string;
  /** Not validated yet; null if the file could not be read. */
  readonly value: Readonly<Record<string, unknown>> | null;
  readonly tree: Places;
}

const HOME_HERE =
  '`home` has no effect here: only `./hookwright.yaml` and a file named by `--config` can name the home';
const PROFILE_NAME = /^[a-z0-9][a-z0-9_-]{0,63}$/;

export function loadProfiles({ home, ...disk }: HomeDisk): {
  readonly profiles: readonly LoadedProfile[];
  readonly findings: readonly Finding[];
} {
  const { files } = disk;
  const findings: Finding[] = [];
  const folder = join(home, 'profiles');
  const names = files.list(folder).filter((name) => name !== 'default' && PROFILE_NAME.test(name));
  const profiles = names
    .filter((name) => files.stat(join(folder, name))?.kind === 'directory')
    .toSorted()
    .map((name): LoadedProfile => {
      const loaded = loadProfileFile(disk, join(folder, name, 'config.yaml'));
      findings.push(...loaded.findings);
      return { name, home: `profiles/${name}`, value: loaded.value, tree: fileTree(loaded.file) };
    });
  return { profiles, findings };
}

interface ProfileFile {
  readonly file: ParsedFile;
  readonly value: LoadedProfile['value'];
  readonly findings: readonly Finding[];
}

function loadProfileFile(disk: Disk, path: string): ProfileFile {
  const { source, isMissing, file, findings } = readYamlFile(disk, path);
  const empty: ParsedFile = { source, value: {}, root: null, aliases: new Map() };
  if (isMissing) return { file: empty, value: {}, findings: [] };
  if (file === null) return { file: empty, value: null, findings };
  if (isPlainMap(file.value)) return { file, value: file.value, findings };
  const message = 'a config file is a map of settings';
  const finding: Finding = { rule: 'wrong-type', source, range: { start: 0, end: source.text.length }, message };
  return { file, value: null, findings: [...findings, finding] };
}

/** Maximum depth of the search below a pattern's fixed part. */
const MAX_DEPTH = 16;

/**
 * Returns the absolute paths of the regular files that match, sorted by code unit, so that the order is the same on every
 * machine; or an error for an invalid pattern. A pattern without glob characters matches itself, whether or not it exists.
 */
export function expandGlob(files: Files, base: string, pattern: string): readonly string[] | Error {
  if (!isGlob(pattern)) return [resolve(base, pattern)];
  const found = pathGlob(pattern);
  if (found instanceof Error) {
    return new Error(`${JSON.stringify(pattern)} is not a supported glob: ${found.message}`);
  }
  const { glob, matches } = found;
  const root = resolve(base, found.base);
  const depth = glob.includes('**') ? MAX_DEPTH : glob.split('/').length;
  try {
    const paths = walk(files, root, '', depth).filter((path) => matches(path));
    return paths.map((path) => join(root, path)).sort();
  } catch (error) {
    if (error instanceof UnreadableFile) return error;
    throw error;
  }
}

/** Lists regular files, relative to `root`. Does not follow links to directories, which may be cyclic. */
function walk(files: Files, root: string, below: string, depth: number): string[] {
  if (depth === 0) return [];
  const found: string[] = [];
  for (const name of files.list(join(root, below))) {
    const path = below === '' ? name : `${below}/${name}`;
    const absolute = join(root, path);
    const stat = files.stat(absolute);
    if (stat?.kind === 'file') found.push(path);
    if (stat?.kind === 'directory' && !isLink(files, absolute)) found.push(...walk(files, root, path, depth - 1));
  }
  return found;
}

const isLink = (files: Files, directory: string): boolean => {
  const parent = files.realpath(dirname(directory));
  return parent === null || files.realpath(directory) !== join(parent, basename(directory));
};
