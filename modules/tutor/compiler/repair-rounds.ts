/** Applies fixes repeatedly, because fixing one mistake may reveal another. */

import { groupBy } from '../../../base/group-by.ts';
import { applyEdits } from '../../../compiler/diagnostics/apply-edits.ts';
import type { Diagnostic, TextEdit } from '../../../compiler/diagnostics/diagnostic.ts';
import type { FixedFile, RepairFiles } from '../../../compiler/module.ts';
import type { SourceText } from '../../../compiler/text/source-text.ts';

/** Limit on rounds; more have never been necessary. */
const MAX_ROUNDS = 5;

export const repairRounds: RepairFiles = (found, recompile) => {
  let texts: ReadonlyMap<string, FixedFile> = new Map();
  let result = found;
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const fixed = applyFixes(result.diagnostics);
    if (fixed.length === 0) break;
    const next = new Map([...texts, ...fixed.map((file) => [file.path, merged(texts.get(file.path), file)] as const)]);
    const after = recompile(next);
    if (!isBetter(result.diagnostics, after.diagnostics, fixed)) break;
    texts = next;
    result = after;
  }
  return { result, files: [...texts.values()] };
};

const merged = (before: FixedFile | undefined, file: FixedFile): FixedFile =>
  before === undefined ? file : { ...file, before: before.before, fixed: [...before.fixed, ...file.fixed] };

/** Whether all fixed diagnostics have disappeared and all files parse. New ones are allowed: fixing a syntax error may reveal others. */
function isBetter(before: readonly Diagnostic[], after: readonly Diagnostic[], files: readonly FixedFile[]): boolean {
  if (after.filter(isUnreadable).length > before.filter(isUnreadable).length) return false;
  const were = countByKey(before);
  const are = countByKey(after);
  return files.every(({ fixed }) =>
    fixed.every((diagnostic) => (are.get(keyOf(diagnostic)) ?? 0) < (were.get(keyOf(diagnostic)) ?? 0)),
  );
}

const isUnreadable = ({ rule }: Diagnostic): boolean => rule === 'yaml-syntax' || rule === 'yaml-alias';

const keyOf = ({ source, rule, message }: Diagnostic): string => JSON.stringify([source.path, rule, message]);

function countByKey(diagnostics: readonly Diagnostic[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const diagnostic of diagnostics) counts.set(keyOf(diagnostic), (counts.get(keyOf(diagnostic)) ?? 0) + 1);
  return counts;
}

type Fixable = Diagnostic & { readonly fix: readonly TextEdit[] };

const isFixable = (diagnostic: Diagnostic): diagnostic is Fixable => diagnostic.fix !== undefined;

/** Returns an entry for each changed file. If two fixes overlap, only the first is applied: it may make the other unnecessary. */
export function applyFixes(diagnostics: readonly Diagnostic[]): readonly FixedFile[] {
  const byFile = groupBy(diagnostics.filter(isFixable), ({ source }) => source.path);
  return [...byFile.values()].flatMap((own) => (own[0] === undefined ? [] : [fixFile(own[0].source, own)]));
}

function fixFile({ path, name, text }: SourceText, diagnostics: readonly Fixable[]): FixedFile {
  const fixed: Fixable[] = [];
  const edits: TextEdit[] = [];
  for (const diagnostic of diagnostics.toSorted((a, b) => startOf(a) - startOf(b))) {
    if (startOf(diagnostic) <= (edits.at(-1)?.range.end ?? -1)) continue;
    edits.push(...diagnostic.fix);
    fixed.push(diagnostic);
  }
  return { path, name, before: text, after: applyEdits(text, edits), fixed };
}

const startOf = ({ fix }: Fixable): number => fix[0]?.range.start ?? 0;
