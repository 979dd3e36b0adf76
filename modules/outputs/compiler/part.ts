/** The compiler rules for outputs and approvals. */
import type { CompilerPart } from '../../../compiler/module.ts';
import { callbackRoutes } from './callbacks.ts';
import { RULE_FILES } from './rules/built/rule-files.ts';

export const outputsCompiler: CompilerPart = { rules: RULE_FILES, callbacks: callbackRoutes };
