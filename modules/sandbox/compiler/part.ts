/** The part of the compiler that this module adds. */
import type { CompilerPart } from '../../../compiler/module.ts';
import { RULE_FILES } from './rules/built/rule-files.ts';

export const sandboxCompiler: CompilerPart = { rules: RULE_FILES };
