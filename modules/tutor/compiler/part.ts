/** The module's part of the compiler. */
import type { CompilerPart } from '../../../compiler/module.ts';
import { explainFindings } from './tutor.ts';

export const tutorCompiler: CompilerPart = { tutor: explainFindings };
