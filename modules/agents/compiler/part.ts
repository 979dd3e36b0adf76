/** The part of the compiler that this module adds. */
import type { CompilerPart } from '../../../compiler/module.ts';
import { expandAgents } from './expand.ts';

export const agentsCompiler: CompilerPart = { agents: expandAgents };
