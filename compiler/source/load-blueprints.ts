/** Loads the shipped blueprints and those in `<home_dir>/catalog/blueprints/`, which take precedence. */
import type { BlueprintPlan } from '../../schemas/generated/types.ts';
import type { Finding } from '../diagnostics/diagnostic.ts';
import { lowerBlueprint } from '../lower/blueprint.ts';
import type { Places } from './file-tree.ts';
import type { Disk } from './files.ts';
import { findPlace } from './find-place.ts';
import { loadCatalogFolder } from './load-catalog.ts';

export interface BlueprintSearch extends Disk {
  /** Absolute paths. Blueprints in later folders replace those in earlier ones. Missing folders count as empty. */
  readonly folders: readonly string[];
}

export interface LoadedBlueprints {
  /** By key, sorted by key. */
  readonly plans: ReadonlyMap<string, BlueprintPlan>;
  readonly findings: readonly Finding[];
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
  const sorted = [...plans].sort(([a], [b]) => (a < b ? -1 : 1));
  return { plans: new Map(sorted), findings };
}

function duplicate(key: string, first: Places, again: Places): Finding {
  const message = `blueprint \`${key}\` is defined in two files`;
  const finding = findPlace({ rule: 'duplicate-definition', path: ['key'], at: 'value', message }, again);
  const there = first.place(['key']);
  const related = { source: there.file.source, range: there.value, message: 'it is first defined here' };
  return { ...finding, related: [related] };
}
