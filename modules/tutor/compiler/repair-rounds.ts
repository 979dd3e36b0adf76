/**
 * Applies fixes repeatedly, because fixing one mistake may reveal another. Each result is compiled before it counts: a fix
 * that leaves its problem, breaks the file or makes a problem is dropped.
 */

import { groupBy } from '../../../base/group-by.ts';
import { applyEdits } from '../../../compiler/diagnostics/apply-edits.ts';
import type { Diagnostic, TextEdit } from '../../../compiler/diagnostics/diagnostic.ts';
import type { FixedFile, RepairFiles } from '../../../compiler/module.ts';
import type { Range } from '../../../compiler/text/source-text.ts';

/** Limit on rounds, each of which compiles once; a few are usual. */
const MAX_ROUNDS = 1000;

export const repairRounds: RepairFiles = (compiled, recompile) => {
  const dropped = new Map<string, string>();
  let texts: ReadonlyMap<string, FixedFile> = new Map();
  let result = compiled;
  const nextFixes = (): readonly Fixable[] =>
    withoutOverlaps(result.diagnostics.filter(isFixable).filter((each) => !dropped.has(keyOf(each))));
  let fixes = nextFixes();
  for (let round = 0; round < MAX_ROUNDS && fixes.length > 0; round++) {
    const fixed = [...groupBy(fixes, ({ source }) => source.path).values()].flatMap(fixFile);
    const next = new Map([...texts, ...fixed.map((file) => [file.path, merged(texts.get(file.path), file)] as const)]);
    const after = recompile(next);
    const harm = harmOf(result.diagnostics, after.diagnostics, fixed);
    const [only, another] = fixes;
    if (harm === null) {
      texts = next;
      result = after;
    } else if (only !== undefined && another === undefined) dropped.set(keyOf(only), harm);
    // One of several does it: half of them is tried, until it is found.
    const isUnclear = harm !== null && another !== undefined;
    fixes = isUnclear ? fixes.slice(0, Math.floor(fixes.length / 2)) : nextFixes();
  }
  const left = result.diagnostics
    .filter(isFixable)
    .map((diagnostic) => ({ diagnostic, why: dropped.get(keyOf(diagnostic)) ?? 'too many repairs; use --fix again' }));
  const diagnostics = result.diagnostics.map((each) => (dropped.has(keyOf(each)) ? withoutFix(each) : each));
  return { result: { ...result, diagnostics }, files: [...texts.values()], left };
};

/** A fix that was dropped is not announced again. */
const withoutFix = ({ fix: _, ...diagnostic }: Diagnostic): Diagnostic => diagnostic;

const merged = (before: FixedFile | undefined, file: FixedFile): FixedFile =>
  before === undefined ? file : { ...file, before: before.before, fixed: [...before.fixed, ...file.fixed] };

type Diagnostics = readonly Diagnostic[];

/** Says why the fixes are not good; null if they are. */
function harmOf(before: Diagnostics, after: Diagnostics, files: readonly FixedFile[]): string | null {
  const fixed = files.flatMap((file) => file.fixed);
  const more = new Map<string, number>();
  for (const each of before) more.set(keyOf(each), (more.get(keyOf(each)) ?? 0) - 1);
  for (const each of after) more.set(keyOf(each), (more.get(keyOf(each)) ?? 0) + 1);
  const newProblem = after.find((each) => (more.get(keyOf(each)) ?? 0) > 0 && isMade(each, fixed, files));
  if (newProblem !== undefined) return `it would cause another problem, ${newProblem.rule}: ${newProblem.message}`;
  // The first syntax errors hide others of the same kind.
  const isLeft = (each: Diagnostic): boolean =>
    isUnreadable(each)
      ? after.some((other) => keyOf(other) === keyOf(each) && isReached(other, files))
      : (more.get(keyOf(each)) ?? 0) >= 0;
  return fixed.some(isLeft) ? 'the problem would remain' : null;
}

/**
 * Whether a new problem comes from the fixes. An error hides problems that are found only after it: those were there before,
 * unless they are about words that a fix wrote. A problem that also has a fix is the next round's.
 */
function isMade(problem: Diagnostic, fixed: Diagnostics, files: readonly FixedFile[]): boolean {
  if (isUnreadable(problem)) return !fixed.some(isUnreadable) || isReached(problem, files);
  if (isFixable(problem)) return false;
  if (!fixed.some(({ severity }) => severity === 'error')) return true;
  const { source, range } = problem;
  const edits = written(problem, files).filter(({ start, end }) => start < range.end && range.start < end);
  const own = new Set(edits.flatMap(({ replaced }) => wordsOf(replaced)));
  return edits.length > 0 && wordsOf(source.text.slice(range.start, range.end)).some((word) => !own.has(word));
}

const wordsOf = (text: string): readonly string[] => text.match(/[\w-]+/g) ?? [];

const isUnreadable = ({ rule }: Diagnostic): boolean => rule === 'yaml-syntax' || rule === 'yaml-alias';

/** Whether a syntax error is in text that was read when the fixes were found. */
const isReached = (problem: Diagnostic, files: readonly FixedFile[]): boolean =>
  problem.range.start <= (written(problem, files).at(-1)?.end ?? -1);

interface WrittenText extends Range {
  /** The text in its place before. */
  readonly replaced: string;
}

/** What the edits wrote into the problem's file, with its place in the text after them. */
function written({ source }: Diagnostic, files: readonly FixedFile[]): readonly WrittenText[] {
  const file = files.find(({ path }) => path === source.path);
  let moved = 0;
  return (file?.fixed ?? [])
    .flatMap(({ fix = [] }) => fix)
    .map(({ range, text }) => {
      const start = range.start + moved;
      moved += text.length - (range.end - range.start);
      return { start, end: start + text.length, replaced: file?.before.slice(range.start, range.end) ?? '' };
    });
}

/** The same problem in another text: its message may change, because it names the possible events. */
const keyOf = ({ source: { path, text }, rule, range }: Diagnostic): string =>
  JSON.stringify([path, rule, text.slice(range.start, range.end)]);

type Fixable = Diagnostic & { readonly fix: readonly TextEdit[] };

const isFixable = (diagnostic: Diagnostic): diagnostic is Fixable => diagnostic.fix !== undefined;

const startOf = ({ fix }: Fixable): number => fix[0]?.range.start ?? 0;

/** If two fixes overlap, only the first is applied: it may make the other unnecessary. */
function withoutOverlaps(diagnostics: readonly Fixable[]): readonly Fixable[] {
  const ends = new Map<string, number>();
  return diagnostics
    .toSorted((a, b) => startOf(a) - startOf(b))
    .filter((each) => {
      if (startOf(each) <= (ends.get(each.source.path) ?? -1)) return false;
      ends.set(each.source.path, each.fix.at(-1)?.range.end ?? 0);
      return true;
    });
}

function fixFile(fixed: readonly Fixable[]): readonly FixedFile[] {
  const edits = fixed.flatMap(({ fix }) => fix);
  return fixed.slice(0, 1).map(({ source: { path, name, text } }) => {
    return { path, name, before: text, after: applyEdits(text, edits), fixed };
  });
}
