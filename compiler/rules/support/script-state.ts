/** Looks up the state of a route's script, for the two rules about scripts. */
import { join } from 'node:path';
import { scriptPath, scriptsFolder } from '../../config/script.ts';
import type { ScriptState } from '../../views/machine-facts.ts';
import type { RouteView } from '../../views/views.ts';

export function scriptState(route: RouteView): ScriptState {
  const { facts } = route.scope;
  const home = route.profilePlan?.home ?? '';
  const path = scriptPath(route.config.script ?? '', scriptsFolder(join(facts.home, home)));
  return path === null ? 'outside' : facts.script(home, path);
}
