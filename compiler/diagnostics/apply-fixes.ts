/** Applies the repairs of diagnostics to the texts of their files, for `lint --fix` and editors. */
import type { SourceText } from '../text/source-text.ts';
import type { Diagnostic, TextEdit } from './diagnostic.ts';

export interface FixedFile {
  /** Absolute path. */
  readonly path: string;
  readonly name: string;
  readonly before: string;
  readonly after: string;
  /** The diagnostics that were repaired. */
  readonly fixed: readonly Diagnostic[];
}

type Fixable = Diagnostic & { readonly fix: readonly TextEdit[] };

const isFixable = (diagnostic: Diagnostic): diagnostic is Fixable => diagnostic.fix !== undefined;

/** One entry for each file that changes. Of two repairs that overlap the first is applied: the other may be moot then. */
export function applyFixes(diagnostics: readonly Diagnostic[]): readonly FixedFile[] {
  const byFile = new Map<string, Fixable[]>();
  for (const diagnostic of diagnostics.filter(isFixable)) {
    const { path } = diagnostic.source;
    byFile.set(path, [...(byFile.get(path) ?? []), diagnostic]);
  }
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

/** @param edits in the order of the text, without overlaps */
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
