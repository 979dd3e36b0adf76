/** A script that does not exist on this machine (§2.6). */

import { hasOwnProfile } from './support/own-profile.ts';
import { rule } from './support/rule.ts';
import { scriptState } from './support/script-state.ts';

export const scriptMissing = rule('script-missing', {
  route(route, report) {
    if (route.config.script === undefined || hasOwnProfile(route) || scriptState(route) !== 'missing') return;
    const message = `the script \`${route.config.script}\` does not exist here: events would be ignored`;
    const [, file] = /^(?:\S*\/)?(?:python3?|node|bash|sh)\s+(\S+)$/.exec(route.config.script) ?? [];
    const hint =
      file === undefined
        ? `put it in \`scripts/\` below the home folder`
        : `\`script\` is only the file, whose suffix determines the interpreter: write \`script: ${file}\``;
    report({ path: ['script'], at: 'value', message, hint });
  },
});
