/** `hookwright/compiler`: config in, table and diagnostics out. */
export type { Diagnostic, RelatedPlace } from './diagnostics/diagnostic.ts';
export type { Flags } from './lower/overrides.ts';
export type { JobRef } from './machine-facts.ts';
export type {
  Compiled,
  CompileFilesOptions,
  CompileOptions,
  CompileSubscriptions,
  CompileTextOptions,
} from './node/compile-text.ts';
export { compileFiles, compileText, subscriptionCompiler } from './node/compile-text.ts';
export type { DiagnosticFormat } from './print/print.ts';
export { DIAGNOSTIC_FORMATS, printDiagnostics } from './print/print.ts';
export type { RuleId } from './rules/registry.ts';
export { RULE_GROUPS, RULES } from './rules/registry.ts';
export type { Rule, Severity } from './rules/support/rule.ts';
export type { Range, SourceText } from './text/source-text.ts';
