/** Converts problems, which have paths, to findings, which have positions in files, and collects those of all stages. */

import { relative, sep } from 'node:path';
import { escapeInvisible } from '../../base/text.ts';
import type { Place } from '../../schemas/generated/types.ts';
import type { Diagnostic, Finding, NodePath, Problem, RelatedPlace } from '../diagnostics/diagnostic.ts';
import { diagnose } from '../diagnostics/diagnostic.ts';
import type { RuleId } from '../diagnostics/rule.ts';
import { createLines } from '../print/lines.ts';
import type { Range } from '../text/source-text.ts';
import { LocationIndex, locate } from './locate.ts';
import type { ParsedFile } from './parse-yaml.ts';
import type { NodePlace, SourceTree } from './source-tree.ts';

/** A finding about a node of a file. */
export interface NodeFinding extends Finding {
  readonly node: { readonly problem: Problem; readonly tree: Places; readonly base: NodePath };
}

/** @param base path of the entry that the problem's path is relative to */
export function findPlace(problem: Problem, tree: Places, base: NodePath = []): NodeFinding {
  const path = [...base, ...problem.path];
  const place = tree.place(path);
  const related = (problem.related ?? []).map(({ path: below, within, message, root }): RelatedPlace => {
    const other = tree.place(root === true ? below : [...base, ...below]);
    const part = within === undefined ? null : other.part(within.offset, within.length);
    return { source: other.file.source, range: part ?? keyOrStart(other), message };
  });
  return {
    rule: problem.rule,
    source: place.file.source,
    range: rangeFor(problem, place, path),
    message: problem.message,
    ...(problem.hint === undefined ? {} : { hint: problem.hint }),
    ...(problem.sensitive === true ? { sensitive: true } : {}),
    ...(problem.severity === undefined ? {} : { severity: problem.severity }),
    related: [...related, ...viaPlace(place)],
    node: { problem, tree, base },
  };
}

/** The range is the key, the value, or a part of the value. Masked values are marked as a whole. */
function rangeFor(problem: Problem, place: NodePlace, path: NodePath): Range {
  const exists = place.depth === path.length;
  const isEmpty = place.value.end <= place.value.start;
  if (problem.at === 'key' || !exists || isEmpty) return keyOrStart(place);
  if (problem.within === undefined || problem.sensitive === true) return place.value;
  return place.part(problem.within.offset, problem.within.length) ?? place.value;
}

/** A list item has no key, so the position of its first character is used. */
const keyOrStart = ({ key, value }: NodePlace): Range => key ?? { start: value.start, end: value.start };

/** For a value reached through an alias or merge key, the position where it is used. */
const viaPlace = (place: NodePlace): readonly RelatedPlace[] =>
  place.via === null ? [] : [{ source: place.file.source, range: place.via, message: 'the value is used here' }];

/**
 * Returns the findings with clearer messages and fixes, and without consequences of recognised mistakes. Findings about
 * nodes are `NodeFinding`s.
 */
export type Tutor = (findings: readonly Finding[]) => readonly Finding[];

export interface Report {
  add(findings: readonly Finding[]): void;
  /** @param base path of the entry that the problems' paths are relative to */
  addProblems(problems: readonly Problem[], tree: Places, base?: NodePath): void;
  /** Sorted, without duplicates. */
  diagnostics(): readonly Diagnostic<RuleId>[];
}

/** @param modules at most one of them has a tutor */
export function createReport(modules: readonly { readonly tutor?: Tutor }[] = []): Report {
  const { tutor } = modules.find((module) => module.tutor) ?? {};
  const findings: Finding[] = [];
  return {
    add(more) {
      for (const finding of more) findings.push(finding);
    },
    addProblems(problems, tree, base = []) {
      for (const problem of problems) findings.push(findPlace(problem, tree, base));
    },
    // Without a tutor, questions have no answer.
    diagnostics: () => diagnose(tutor?.(findings) ?? findings.filter(({ message }) => message !== '')),
  };
}

/** Looks up places in one or several files. */
export type Places = Pick<SourceTree, 'place' | 'files'>;

export function fileTree(file: ParsedFile): Places {
  const index = new LocationIndex();
  return { files: [file], place: (path) => ({ ...locate(file, path, index), file }) };
}

/** Positions of entries as the table records them: a line, and a file relative to the root config's folder. */
export interface Placer {
  placeOf(tree: Places, path: NodePath): Place;
}

/** @param folder absolute path of the root config's folder; relative paths make the table independent of the machine */
export function createPlacer(folder: string): Placer {
  const lines = createLines();
  return {
    placeOf(tree, path) {
      const { file, key, value } = tree.place(path);
      const { line } = lines.positionOf(file.source, (key ?? value).start);
      return { file: escapeInvisible(relative(folder, file.source.path).split(sep).join('/')), line };
    },
  };
}
