/** A script outside the scripts folder (§2.6). */

import type { Problem } from '../diagnostics/problem.ts';
import { scriptState } from './support/script-state.ts';
import type { ViewRule } from './support/view-rule.ts';

const PROBLEMS = {
  outside: {
    message: 'is not below `<profile home>/scripts/`',
    hint: 'put the script there and write its path relative to that folder',
  },
  linked: {
    message: 'has another hard link, which may be anywhere: it is not run',
    hint: 'put a copy of the script into `<profile home>/scripts/`',
  },
} as const;

export const scriptOutside = {
  id: 'script-outside',
  checkRoute(route): readonly Problem[] {
    if (route.config.script === undefined) return [];
    const state = scriptState(route);
    const problem = state === 'outside' || state === 'linked' ? PROBLEMS[state] : undefined;
    if (problem === undefined) return [];
    const message = `\`${route.config.script}\` ${problem.message}`;
    return [{ rule: 'script-outside', path: ['script'], at: 'value', message, hint: problem.hint }];
  },
} as const satisfies ViewRule;
