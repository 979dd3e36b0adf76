/** An output that nothing limits, of an agent that reads text of strangers. */
import { rule } from '../../../../compiler/rules/support/rule.ts';
import { outputsOf } from '../outputs-of.ts';

/** A run may hand over so many free texts. */
const MOST = 5;

export const unboundedOutput = rule('unbounded-output', {
  route(route, report) {
    if (route.config.outputs === undefined || route.scope.payloads?.readsStrangers(route) !== true) return;
    for (const { name, config } of outputsOf(route)) {
      const { allow, max = 1, approve } = config;
      if (max <= MOST || allow !== undefined || approve === true) continue;
      const message = `a stranger who steers the agent can have it post ${max} messages of any text to \`${config.deliver}\``;
      const hint = `lower \`max\` to ${MOST} or less, list what is allowed (\`allow\`), or have a person look at each: \`approve: true\``;
      report({ path: ['outputs', name, 'max'], at: 'value', message, hint });
    }
  },
});
