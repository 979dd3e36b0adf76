/** What `lint --strict` makes of diagnostics, for the command line. */
import type { Diagnostic } from './diagnostics/diagnostic.ts';
import { RULES } from './rules/registry.ts';

const STRICT: ReadonlySet<string> = new Set(RULES.flatMap(({ id, strict }) => (strict === true ? [id] : [])));

/** Rules that say so are errors in the output, too: what strangers can reach is no matter of taste. */
export const strictly = (diagnostics: readonly Diagnostic[]): readonly Diagnostic[] =>
  diagnostics.map((diagnostic) => (STRICT.has(diagnostic.rule) ? { ...diagnostic, severity: 'error' } : diagnostic));
