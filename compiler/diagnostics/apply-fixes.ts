/** Applies the fixes of diagnostics to the texts of their files, for `lint --fix` and editors. */
import { groupBy } from '../../base/group-by.ts';
import type { SourceText } from '../text/source-text.ts';
import type { Diagnostic, TextEdit } from './diagnostic.ts';

export interface FixedFile {
  /** Absolute path. */
  readonly path: string;
  readonly name: string;
  readonly before: string;
  readonly after: string;
  /** The diagnostics whose fixes were applied. */
  readonly fixed: readonly Diagnostic[];
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

/** @param edits in text order, without overlaps */
export function applyEdits(text: string, edits: readonly TextEdit[]): string {
  let after = '';
  let at = 0;
  for (const { range, text: inserted } of edits) {
    after += text.slice(at, range.start) + inserted;
    at = range.end;
  }
  return after + text.slice(at);
}

const startOf = ({ fix }: Fixable): number => fix[0]?.range.start ?? 0;
