/** Applies `lint --strict` to diagnostics. */
import type { Diagnostic } from './diagnostics/diagnostic.ts';
import { RULES } from './diagnostics/rule.ts';

const STRICT: ReadonlySet<string> = new Set(RULES.flatMap(({ id, strict }) => (strict === true ? [id] : [])));

/** Turns warnings of rules marked `strict` into errors. */
export const applyStrict = (diagnostics: readonly Diagnostic[]): readonly Diagnostic[] =>
  diagnostics.map((diagnostic) => (STRICT.has(diagnostic.rule) ? { ...diagnostic, severity: 'error' } : diagnostic));
