/** Loads the shipped blueprints and those in `<home_dir>/catalog/blueprints/`, which take precedence. */
import { join } from 'node:path';
import type { BlueprintFile, BlueprintPlan } from '../../schemas/generated/types.ts';
import type { Finding } from '../diagnostics/diagnostic.ts';
import type { Problem } from '../diagnostics/problem.ts';
import { lowerBlueprint } from '../lower/blueprint.ts';
import { checkShape } from '../schema/validate.ts';
import { isPlainMap } from '../text/plain-map.ts';
import { displayPath } from './display-path.ts';
import type { Files } from './files.ts';
import { findPlace } from './find-place.ts';
import type { ParsedFile } from './parse-yaml.ts';
import { parseYaml } from './parse-yaml.ts';
import { readText, unreadable } from './read-text.ts';
import type { SourceTree } from './source-tree.ts';
import { mergeFiles } from './source-tree.ts';

export interface BlueprintSearch {
  readonly files: Files;
  /** Absolute path; diagnostics show paths relative to it. */
  readonly cwd: string;
  /** Absolute paths. Blueprints in later folders replace those in earlier ones. Missing folders count as empty. */
  readonly folders: readonly string[];
}

export interface LoadedBlueprints {
  /** By key, sorted by key. */
  readonly plans: ReadonlyMap<string, BlueprintPlan>;
  readonly findings: readonly Finding[];
}

interface Loaded {
  readonly plan: BlueprintPlan;
  readonly tree: SourceTree;
}

interface Loading {
  readonly search: BlueprintSearch;
  readonly findings: Finding[];
}

function parseFile({ search, findings }: Loading, path: string): ParsedFile | null {
  const read = readText(search.files, path);
  const source = { path, name: displayPath(path, search.cwd), text: read.ok ? read.text : '' };
  if (!read.ok) {
    findings.push(unreadable(source, read.message));
    return null;
  }
  const parsed = parseYaml(source);
  findings.push(...parsed.findings);
  if (parsed.file === null || isPlainMap(parsed.file.value)) return parsed.file;
  const range = { start: 0, end: read.text.length };
  findings.push({ rule: 'wrong-type', source, range, message: 'a blueprint is a map with `key`, `title`, …' });
  return null;
}

function loadFile(loading: Loading, path: string): Loaded | null {
  const file = parseFile(loading, path);
  if (file === null) return null;
  const { tree } = mergeFiles([file]);
  const report = (problems: readonly Problem[]): void => {
    loading.findings.push(...problems.map((problem) => findPlace(problem, tree)));
  };
  const shape = checkShape('blueprint', tree.value);
  if (shape.length > 0) {
    report(shape);
    return null;
  }
  // The validator has checked the type.
  const { plan, problems } = lowerBlueprint(tree.value as unknown as BlueprintFile);
  report(problems);
  return plan === null ? null : { plan, tree };
}

function reportDuplicate(loading: Loading, first: Loaded, again: Loaded): void {
  const message = `blueprint \`${again.plan.key}\` is defined in two files`;
  const finding = findPlace({ rule: 'duplicate-definition', path: ['key'], at: 'value', message }, again.tree);
  const there = first.tree.place(['key']);
  const related = { source: there.file.source, range: there.value, message: 'it is first defined here' };
  loading.findings.push({ ...finding, related: [related] });
}

/** Two files in one folder must not define the same key. */
function loadFolder(loading: Loading, folder: string): ReadonlyMap<string, Loaded> {
  const found = new Map<string, Loaded>();
  const names = loading.search.files.list(folder).filter((name) => /\.ya?ml$/.test(name) && !name.startsWith('.'));
  for (const name of names.toSorted()) {
    const loaded = loadFile(loading, join(folder, name));
    if (loaded === null) continue;
    const first = found.get(loaded.plan.key);
    if (first === undefined) found.set(loaded.plan.key, loaded);
    else reportDuplicate(loading, first, loaded);
  }
  return found;
}

export function loadBlueprints(search: BlueprintSearch): LoadedBlueprints {
  const loading: Loading = { search, findings: [] };
  const plans = new Map<string, BlueprintPlan>();
  for (const folder of search.folders) {
    for (const [key, { plan }] of loadFolder(loading, folder)) plans.set(key, plan);
  }
  const sorted = [...plans].sort(([a], [b]) => (a < b ? -1 : 1));
  return { plans: new Map(sorted), findings: loading.findings };
}
