/** A module's extension of the compiler. */

import type { BlueprintPlan, Catalog, Config, RouteTable } from '../schemas/generated/types.ts';
import type { Diagnostic, Finding } from './diagnostics/diagnostic.ts';
import type { Files } from './source/files.ts';
import type { Report, Tutor } from './source/find-place.ts';
import type { CatalogInput, LoadedCatalog } from './stages/catalog.ts';
import type { CheckedProfile } from './stages/check-config.ts';
import type { PayloadFacts, RouteScope, ViewRule } from './views/views.ts';

/** One module's part of the compiler; loaded before a compile. A member is absent where the module has no such part. */
export interface CompilerPart {
  /** Additional rules. */
  readonly rules?: readonly ViewRule[];
  /** Facts about payloads; at most one module has it. Problems in the config's own files are reported. */
  readonly payloads?: (input: PayloadInput, report: Report) => PayloadFacts;
  /** Blueprints of the catalog; at most one module has them. */
  readonly blueprints?: BlueprintTools;
  /** Expands known agents; at most one module has it. */
  readonly agents?: ExpandAgents;
  /** Routes of the gateway itself; at most one module has them. @param scope without routes */
  readonly callbacks?: (scope: RouteScope) => Pick<RouteTable, 'callbacks'>;
  /** Called once for each compile; at most one module has it. Without it, diagnostics have no fixes. */
  readonly tutor?: Tutor;
}

/** Replaces each `use` of the profiles' agents by a command, and reports what it cannot replace. */
export type ExpandAgents = (
  profiles: readonly CheckedProfile[],
  input: CatalogInput,
  config: Pick<Config, 'gateway'>,
  report: Report,
) => readonly CheckedProfile[];

export interface BlueprintTools {
  /** Loads the shipped blueprints, and those of the home, which replace them. */
  readonly load: (input: CatalogInput) => LoadedBlueprints;
  /** What `GET /blueprints` returns. */
  readonly publish: (plans: Iterable<BlueprintPlan>, appScheme: string) => Catalog;
}

export interface LoadedBlueprints {
  /** By key, sorted by key. */
  readonly plans: ReadonlyMap<string, BlueprintPlan>;
  readonly findings: readonly Finding[];
}

export interface PayloadInput {
  readonly catalog: LoadedCatalog;
  readonly files: Files;
  readonly cwd: string;
}

export interface FixedFile {
  /** Absolute path. */
  readonly path: string;
  readonly name: string;
  readonly before: string;
  readonly after: string;
  /** The diagnostics whose fixes were applied. */
  readonly fixed: readonly Diagnostic[];
}

/** A problem whose announced fix was not made. */
export interface UnfixedProblem {
  readonly diagnostic: Diagnostic;
  readonly why: string;
}

/** Applies the fixes of diagnostics that do no harm. @param recompile compiles with these texts, by absolute path, instead of those on disk */
export type RepairFiles = <T extends { readonly diagnostics: readonly Diagnostic[] }>(
  found: T,
  recompile: (texts: ReadonlyMap<string, FixedFile>) => T,
) => { readonly result: T; readonly files: readonly FixedFile[]; readonly left: readonly UnfixedProblem[] };
