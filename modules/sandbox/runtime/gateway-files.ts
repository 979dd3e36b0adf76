/**
 * Lists the files besides the table that decide what a gateway does. Programs in a sandbox may read them, but not change them.
 */
import { join } from 'node:path';
import { agentPlans } from '../../../base/names.ts';
import { locateProgram } from '../../../runtime/dispatch/agents/program.ts';
import type { ListProtectedFiles } from '../../../runtime/platform/process/sandbox.ts';
import { listPath } from '../../../runtime/table/in-file-set.ts';
import type { FilterPlan } from '../../../schemas/generated/types.ts';

/** Only files and folders that are read while the gateway runs; a bare name is looked up on the PATH. */
export const listProtectedFiles: ListProtectedFiles = ({ profiles }, plans, places) => {
  const ofProfiles = Object.values(profiles).flatMap((profile) => {
    const folder = join(places.home, profile.home);
    const commands = agentPlans(profile).flatMap(([, plan]) => (plan.kind === 'command' ? [plan.argv] : []));
    const programs = commands.map(([program = '']) => locateProgram(program, folder));
    return [...['scripts', 'skills', ...CATALOGS].map((name) => join(folder, name)), ...programs];
  });
  return [...ofProfiles, ...plans.flatMap(({ filters }) => listsIn(filters)).map((path) => listPath(path, places))];
};

const CATALOGS = ['sources', 'targets', 'blueprints'].map((kind) => join('catalog', kind));

function listsIn(filter: FilterPlan | null): readonly string[] {
  if (filter === null || filter.kind === 'leaf') return filter?.operator === 'in_file' ? [filter.value as string] : [];
  return ('where' in filter ? [filter.where] : filter.filters).flatMap(listsIn);
}
