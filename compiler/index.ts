/** The public API of `hookwright/compiler`: compiles configs to tables and diagnostics. */

export type { Flags } from './config/overrides.ts';
export type { Diagnostic, RelatedPlace } from './diagnostics/diagnostic.ts';
export type { Rule, RuleGroup, RuleId, Severity } from './diagnostics/rule.ts';
export { RULE_GROUPS, RULES } from './diagnostics/rule.ts';
export type {
  Compiled,
  CompileFilesOptions,
  CompileOptions,
  CompileTextOptions,
  SubscriptionCompiler,
} from './node/compile-text.ts';
export { compileFiles, compileText, subscriptionCompiler } from './node/compile-text.ts';
export type { DiagnosticFormat } from './print/print.ts';
export { DIAGNOSTIC_FORMATS, printDiagnostics } from './print/print.ts';
export type { Range, SourceText } from './text/source-text.ts';
export type { JobRef } from './views/machine-facts.ts';
