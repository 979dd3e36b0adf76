/** The compiler rules of the console. */
import type { CompilerPart } from '../../../compiler/module.ts';
import { RULE_FILES } from './rules/built/rule-files.ts';

export const consoleCompiler: CompilerPart = { rules: RULE_FILES };
