/** A script that does not exist on this machine (§2.6). */

import type { Problem } from '../diagnostics/problem.ts';
import { hasOwnProfile } from './support/own-profile.ts';
import { scriptState } from './support/script-state.ts';
import type { ViewRule } from './support/view-rule.ts';

export const scriptMissing = {
  id: 'script-missing',
  checkRoute(route): readonly Problem[] {
    if (route.config.script === undefined || hasOwnProfile(route) || scriptState(route) !== 'missing') return [];
    const message = `the script \`${route.config.script}\` does not exist here: events would be ignored`;
    const [, file] = /^(?:\S*\/)?(?:python3?|node|bash|sh)\s+(\S+)$/.exec(route.config.script) ?? [];
    const hint =
      file === undefined
        ? `put it in \`scripts/\` below the home folder`
        : `\`script\` is only the file, whose suffix determines the interpreter: write \`script: ${file}\``;
    return [{ rule: 'script-missing', path: ['script'], at: 'value', message, hint }];
  },
} as const satisfies ViewRule;
