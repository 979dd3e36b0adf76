/** Loads the shipped blueprints and those in `<home_dir>/catalog/blueprints/`, which take precedence. */
import { join } from 'node:path';
import type { Finding } from '../../../compiler/diagnostics/diagnostic.ts';
import type { LoadedBlueprints } from '../../../compiler/module.ts';
import type { Places } from '../../../compiler/source/file-tree.ts';
import type { Disk } from '../../../compiler/source/files.ts';
import { findPlace } from '../../../compiler/source/find-place.ts';
import { loadCatalogFolder } from '../../../compiler/source/load-catalog.ts';
import type { CatalogInput } from '../../../compiler/stages/catalog.ts';
import type { BlueprintPlan } from '../../../schemas/generated/types.ts';
import { lowerBlueprint, planOf } from './lower-blueprint.ts';

export interface BlueprintSearch extends Disk {
  /** Absolute paths. Blueprints in later folders replace those in earlier ones. Missing folders count as empty. */
  readonly folders: readonly string[];
}

/** Those of a home. The shipped ones were checked when they were made. */
export function loadCatalogBlueprints({ files, cwd, home, catalog }: CatalogInput): LoadedBlueprints {
  const shipped = Object.values(catalog.blueprints).map((file) => [file.key, planOf(file)] as const);
  const { plans, findings } = loadBlueprints({ files, cwd, folders: [join(home, 'catalog', 'blueprints')] });
  return { plans: sorted(new Map([...shipped, ...plans])), findings };
}

export function loadBlueprints({ folders, ...disk }: BlueprintSearch): LoadedBlueprints {
  const findings: Finding[] = [];
  const plans = new Map<string, BlueprintPlan>();
  for (const folder of folders) {
    const loaded = loadCatalogFolder({ ...disk, folder, schema: 'blueprint' });
    // Two files in one folder must not define the same key.
    const first = new Map<string, Places>();
    for (const { value, tree } of loaded.entries) {
      const { plan, problems } = lowerBlueprint(value);
      findings.push(...problems.map((problem) => findPlace(problem, tree)));
      if (plan === null) continue;
      const other = first.get(plan.key);
      if (other !== undefined) {
        findings.push(duplicate(plan.key, other, tree));
        continue;
      }
      first.set(plan.key, tree);
      plans.set(plan.key, plan);
    }
    findings.push(...loaded.findings);
  }
  return { plans: sorted(plans), findings };
}

const sorted = (plans: ReadonlyMap<string, BlueprintPlan>): ReadonlyMap<string, BlueprintPlan> =>
  new Map([...plans].sort(([a], [b]) => (a < b ? -1 : 1)));

function duplicate(key: string, first: Places, again: Places): Finding {
  const message = `blueprint \`${key}\` is defined in two files`;
  const finding = findPlace({ rule: 'duplicate-definition', path: ['key'], at: 'value', message }, again);
  const there = first.place(['key']);
  const related = { source: there.file.source, range: there.value, message: 'it is first defined here' };
  return { ...finding, related: [related] };
}
