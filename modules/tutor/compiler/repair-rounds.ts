/**
 * Applies fixes repeatedly, because fixing one mistake may reveal another. Each result is compiled before it counts: a repair
 * that leaves its problem, breaks the file or makes a problem is dropped.
 */

import { groupBy } from '../../../base/text.ts';
import { applyEdits } from '../../../compiler/diagnostics/apply-edits.ts';
import type { Diagnostic, TextEdit } from '../../../compiler/diagnostics/diagnostic.ts';
import type { FixedFile, RepairFiles, UnfixedProblem } from '../../../compiler/module.ts';
import type { Range, SourceText } from '../../../compiler/text/source-text.ts';

/** Limit on rounds; more have never been necessary. */
const MAX_ROUNDS = 20;

type Texts = ReadonlyMap<string, FixedFile>;

/** The texts after some repairs, and their diagnostics. */
interface State<T> {
  readonly texts: Texts;
  readonly result: T;
}

export const repairRounds: RepairFiles = (found, recompile) => {
  type Step = State<typeof found>;
  const dropped = new Map<string, string>();
  const isOpen = (diagnostic: Diagnostic): diagnostic is Fixable =>
    isFixable(diagnostic) && !dropped.has(keyOf(diagnostic));

  /** Applies those of the fixes that do no harm: all at once, or else one half after the other. */
  const applied = (state: Step, fixes: readonly Fixable[]): Step => {
    if (fixes.length === 0) return state;
    const fixed = applyFixes(fixes);
    const texts = new Map([
      ...state.texts,
      ...fixed.map((file) => [file.path, merged(state.texts.get(file.path), file)] as const),
    ]);
    const result = recompile(texts);
    const harm = harmOf(state.result.diagnostics, result.diagnostics, fixed);
    if (harm === null) return { texts, result };
    const [only, other] = fixes;
    if (only !== undefined && other === undefined) {
      dropped.set(keyOf(only), harm);
      return state;
    }
    const half = Math.ceil(fixes.length / 2);
    const first = applied(state, fixes.slice(0, half));
    return applied(first, stillOpen(first.result.diagnostics, fixes.slice(half)).filter(isOpen));
  };

  let state: Step = { texts: new Map(), result: found };
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const next = applied(state, withoutOverlaps(state.result.diagnostics.filter(isOpen)));
    if (next === state) break;
    state = next;
  }
  const left = state.result.diagnostics.filter(isFixable);
  const why = (diagnostic: Diagnostic): string =>
    dropped.get(keyOf(diagnostic)) ?? 'it appeared after the other repairs: run the command again';
  return {
    result: state.result,
    files: [...state.texts.values()],
    left: left.map((diagnostic): UnfixedProblem => ({ diagnostic, why: why(diagnostic) })),
  };
};

/** The same problems in the texts as they are now. */
function stillOpen(diagnostics: readonly Diagnostic[], fixes: readonly Fixable[]): readonly Diagnostic[] {
  const keys = new Set(fixes.map(keyOf));
  return withoutOverlaps(diagnostics.filter(isFixable).filter((each) => keys.has(keyOf(each))));
}

const merged = (before: FixedFile | undefined, file: FixedFile): FixedFile =>
  before === undefined ? file : { ...file, before: before.before, fixed: [...before.fixed, ...file.fixed] };

/** Says why the repairs are not good; null if they are. */
function harmOf(
  before: readonly Diagnostic[],
  after: readonly Diagnostic[],
  files: readonly FixedFile[],
): string | null {
  const fixed = files.flatMap((file) => file.fixed);
  const grew = growth(before, after, keyOf);
  const grewThere = growth(before, after, textKeyOf);
  // A message may have changed alone: it names the possible events.
  const made = after.find((each) => grew(each) > 0 && grewThere(each) > 0 && isMade(each, fixed, files));
  if (made !== undefined) return `it would cause another problem, ${made.rule}: ${made.message}`;
  // The first syntax errors hide others of the same kind.
  const isLeft = (each: Diagnostic): boolean =>
    isUnreadable(each)
      ? after.some((other) => keyOf(other) === keyOf(each) && isReached(other, files))
      : grew(each) >= 0;
  return fixed.some(isLeft) ? 'the problem would remain' : null;
}

/**
 * Whether a new problem comes from the repairs. An error hides problems that are found only after it: those were there before, unless
 * they are about words that the repair wrote. A problem with a fix of its own is the next round's.
 */
function isMade(problem: Diagnostic, fixed: readonly Diagnostic[], files: readonly FixedFile[]): boolean {
  if (isUnreadable(problem)) return !fixed.some(isUnreadable) || isReached(problem, files);
  if (isFixable(problem)) return false;
  if (!fixed.some(({ severity }) => severity === 'error')) return true;
  const { source, range } = problem;
  const edits = written(fileOf(problem, files)).filter(({ start, end }) => start < range.end && range.start < end);
  const own = new Set(edits.flatMap(({ replaced }) => wordsOf(replaced)));
  return edits.length > 0 && wordsOf(source.text.slice(range.start, range.end)).some((word) => !own.has(word));
}

const wordsOf = (text: string): readonly string[] => text.match(/[\w-]+/g) ?? [];

/** Whether a syntax error is in text that was read when the repairs were found. */
const isReached = (problem: Diagnostic, files: readonly FixedFile[]): boolean =>
  problem.range.start <= (written(fileOf(problem, files)).at(-1)?.end ?? -1);

const fileOf = ({ source }: Diagnostic, files: readonly FixedFile[]): FixedFile | undefined =>
  files.find(({ path }) => path === source.path);

interface WrittenText extends Range {
  /** The text in its place before. */
  readonly replaced: string;
}

/** What the edits wrote, with its place in the text after them. */
function written(file: FixedFile | undefined): readonly WrittenText[] {
  let moved = 0;
  const edits = file?.fixed.flatMap(({ fix = [] }) => fix) ?? [];
  return edits.map(({ range, text }) => {
    const start = range.start + moved;
    moved += text.length - (range.end - range.start);
    return { start, end: start + text.length, replaced: file?.before.slice(range.start, range.end) ?? '' };
  });
}

const isUnreadable = ({ rule }: Diagnostic): boolean => rule === 'yaml-syntax' || rule === 'yaml-alias';

const keyOf = ({ source, rule, message }: Diagnostic): string => JSON.stringify([source.path, rule, message]);

/** The same, for a problem whose message may change. */
const textKeyOf = ({ source: { path, text }, rule, range }: Diagnostic): string =>
  JSON.stringify([path, rule, text.slice(range.start, range.end)]);

type KeyOf = (diagnostic: Diagnostic) => string;

/** How many more there are of a problem. */
function growth(before: readonly Diagnostic[], after: readonly Diagnostic[], key: KeyOf): (of: Diagnostic) => number {
  const counts = new Map<string, number>();
  for (const [all, step] of [
    [before, -1],
    [after, 1],
  ] as const)
    for (const each of all) counts.set(key(each), (counts.get(key(each)) ?? 0) + step);
  return (of) => counts.get(key(of)) ?? 0;
}

type Fixable = Diagnostic & { readonly fix: readonly TextEdit[] };

const isFixable = (diagnostic: Diagnostic): diagnostic is Fixable => diagnostic.fix !== undefined;

/** If two fixes overlap, only the first is applied: it may make the other unnecessary. */
function withoutOverlaps(diagnostics: readonly Fixable[]): readonly Fixable[] {
  const ends = new Map<string, number>();
  return diagnostics
    .toSorted((a, b) => startOf(a) - startOf(b))
    .filter(({ source: { path }, fix }) => {
      if ((fix[0]?.range.start ?? 0) <= (ends.get(path) ?? -1)) return false;
      ends.set(path, fix.at(-1)?.range.end ?? 0);
      return true;
    });
}

/** Returns an entry for each changed file. */
const applyFixes = (fixes: readonly Fixable[]): readonly FixedFile[] =>
  [...groupBy(fixes, ({ source }) => source.path).values()].flatMap((own) =>
    own[0] === undefined ? [] : [fixFile(own[0].source, own)],
  );

const fixFile = ({ path, name, text }: SourceText, fixed: readonly Fixable[]): FixedFile => ({
  path,
  name,
  before: text,
  after: applyEdits(
    text,
    fixed.flatMap(({ fix }) => fix),
  ),
  fixed,
});

const startOf = ({ fix }: Fixable): number => fix[0]?.range.start ?? 0;
