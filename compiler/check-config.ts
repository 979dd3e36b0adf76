/** Validates a config file against its schema, and keeps the valid entries. */
import type { Config, ProfileConfig } from '../schemas/generated/types.ts';
import type { NodePath } from './diagnostics/problem.ts';
import type { Report } from './report.ts';
import { pruneEntries } from './schema/prune.ts';
import { checkShape } from './schema/validate.ts';
import type { Places } from './source/file-tree.ts';

/** The valid part of a config, and the names that are missing from it because their entries have errors. */
export interface CheckedConfig<T> {
  readonly config: T;
  /** See `RouteScope.invalidNames`. */
  readonly invalidNames: ReadonlySet<string>;
}

type Schemas = { readonly config: Config; readonly profile: ProfileConfig };

export function checkConfig<S extends keyof Schemas>(
  schema: S,
  file: { readonly value: Readonly<Record<string, unknown>>; readonly tree: Places },
  report: Report,
): CheckedConfig<Schemas[S]> {
  const problems = checkShape(schema, file.value);
  report.addProblems(problems, file.tree);
  const pruned = pruneEntries(schema, file.value, problems);
  // The invalid entries are removed, so the data has the schema's type.
  const invalidNames = [...pruned.removed.flatMap(namesOf), ...pruned.misspelt.map((path) => `route:${path.at(-1)}`)];
  return { config: pruned.value as Schemas[S], invalidNames: new Set(invalidNames) };
}

/** The names that a removed entry would have defined. */
function namesOf(path: NodePath): readonly string[] {
  const [top = '', name, setting, inner] = path.map(String);
  // Someone may have written a target's settings at the top level.
  if (name === undefined) return [`target:${top}`];
  if (top === 'jobs') return [`job:${name}`];
  if (top === 'sources') return [`source:${name}`];
  if (top !== 'platforms') return [];
  if (name !== 'webhook') return [`target:${name}`];
  return [`setting:${setting === 'extra' ? inner : setting}`];
}
