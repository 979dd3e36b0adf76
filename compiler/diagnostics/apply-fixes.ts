/** Applies the repairs of diagnostics to the texts of their files, for `lint --fix` and editors. */
import type { SourceText } from '../source/source-text.ts';
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

type Fixable = Diagnostic & { readonly fix: TextEdit };

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
  let after = '';
  let at = 0;
  for (const diagnostic of diagnostics.toSorted((a, b) => a.fix.range.start - b.fix.range.start)) {
    const { range, text: inserted } = diagnostic.fix;
    if (range.start < at) continue;
    after += text.slice(at, range.start) + inserted;
    at = range.end;
    fixed.push(diagnostic);
  }
  return { path, name, before: text, after: after + text.slice(at), fixed };
}
