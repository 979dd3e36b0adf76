/** Applies fixes repeatedly, because fixing one mistake may reveal another. */

import type { FixedFile } from '../diagnostics/apply-fixes.ts';
import { applyFixes } from '../diagnostics/apply-fixes.ts';
import type { Diagnostic } from '../diagnostics/diagnostic.ts';

/** Limit on rounds; more have never been necessary. */
const MAX_ROUNDS = 5;

interface Found {
  readonly diagnostics: readonly Diagnostic[];
}

export interface Repaired<T extends Found> {
  /** The result of compiling the fixed files. */
  readonly result: T;
  /** The changed files; all rounds of one file are one change. */
  readonly files: readonly FixedFile[];
}

/** @param recompile compiles with these texts, by absolute path, instead of those on disk */
export function repairRounds<T extends Found>(
  found: T,
  recompile: (texts: ReadonlyMap<string, FixedFile>) => T,
): Repaired<T> {
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
}

const merged = (before: FixedFile | undefined, file: FixedFile): FixedFile =>
  before === undefined ? file : { ...file, before: before.before, fixed: [...before.fixed, ...file.fixed] };

/** Whether all fixed diagnostics are gone and all files parse. New ones are allowed: fixing a syntax error may reveal others. */
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
