/** A script that is not on this machine (§2.6). */

import type { Problem } from '../diagnostics/problem.ts';
import { hasOwnProfile } from './support/own-profile.ts';
import { scriptState } from './support/script-state.ts';
import type { ViewRule } from './support/view-rule.ts';

export const scriptMissing = {
  id: 'script-missing',
  severity: 'warning',
  title: "The route's script does not exist here.",
  why: 'Where the script is missing, every event of the route is answered `ignored`. A config that is compiled on another machine than it is served on may be right all the same.',
  checkRoute(route): readonly Problem[] {
    if (route.config.script === undefined || hasOwnProfile(route) || scriptState(route) !== 'missing') return [];
    const message = `the script \`${route.config.script}\` does not exist here: events would be ignored`;
    return [{ rule: scriptMissing, path: ['script'], at: 'value', message }];
  },
} as const satisfies ViewRule;
