/** The module's part of the compiler. */
import type { CompilerPart } from '../../../compiler/module.ts';
import { loadCatalogBlueprints } from './load-blueprints.ts';
import { publish } from './publish.ts';

export const blueprintCompiler: CompilerPart = { blueprints: { load: loadCatalogBlueprints, publish } };
