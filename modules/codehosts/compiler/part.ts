/** The compiler rules of code hosts. */
import type { CompilerPart } from '../../../compiler/module.ts';
import { RULE_FILES } from './rules/built/rule-files.ts';

export const codehostsCompiler: CompilerPart = { rules: RULE_FILES };
