/** A script outside the scripts folder (§2.6). */

import { rule } from './support/rule.ts';
import { scriptState } from './support/script-state.ts';

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

export const scriptOutside = rule('script-outside', {
  route(route, report) {
    if (route.config.script === undefined) return;
    const state = scriptState(route);
    const problem = state === 'outside' || state === 'linked' ? PROBLEMS[state] : undefined;
    if (problem === undefined) return;
    const message = `\`${route.config.script}\` ${problem.message}`;
    report({ path: ['script'], at: 'value', message, hint: problem.hint });
  },
});
