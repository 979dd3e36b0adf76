/** The compiler rules of the guard. */
import type { CompilerPart } from '../../../compiler/module.ts';
import { RULE_FILES } from './rules/built/rule-files.ts';

export const guardCompiler: CompilerPart = { rules: RULE_FILES };
