/** A script that is not in its folder (§2.6). */

import type { Rule } from './support/rule.ts';
import { scriptState } from './support/script-state.ts';

export const scriptOutside: Rule = {
  id: 'script-outside',
  severity: 'error',
  title: '`script` leads outside `<profile home>/scripts/`.',
  why: 'Whoever may write a route could otherwise run any program on the machine. Symbolic links are followed before the path is judged.',
  bad: {
    config: `platforms:
  webhook:
    enabled: true
    secret: env:WEBHOOK_SECRET
    routes:
      pulls:
        script: ../../bin/anything.sh
        prompt: "{title}"
`,
  },
  good: {
    config: `platforms:
  webhook:
    enabled: true
    secret: env:WEBHOOK_SECRET
    routes:
      pulls:
        script: only-mine.sh
        prompt: "{title}"
`,
    files: {
      '~/.hookwright/scripts/only-mine.sh': `#!/bin/bash
cat
`,
    },
  },
  checkRoute(route) {
    if (route.config.script === undefined) return [];
    const state = scriptState(route);
    if (state !== 'outside') return [];
    const message = `\`${route.config.script}\` is not below \`<profile home>/scripts/\``;
    const hint = 'put the script there and write its path relative to that folder';
    return [{ rule: this.id, path: ['script'], at: 'value', message, hint }];
  },
};
