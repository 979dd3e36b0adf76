/** An output that nothing limits, of an agent that reads text of strangers. */
import { rule } from '../../../../compiler/rules/support/rule.ts';
import type { ContentField, OutputConfig } from '../../../../schemas/generated/types.ts';
import { outputsOf } from '../outputs-of.ts';

/** A run may hand over so many free texts. */
const MOST = 5;

/** A list, such as labels, that neither its target nor the route limits. */
const isOpen = ({ name, kind, values }: ContentField, { allow, ...config }: OutputConfig): boolean =>
  kind === 'list' && values === undefined && allow?.[name] === undefined && !Object.hasOwn(config, name);

export const unboundedOutput = rule('unbounded-output', {
  route(route, report) {
    if (route.config.outputs === undefined || route.scope.payloads?.readsStrangers(route) !== true) return;
    for (const { name, config, fields } of outputsOf(route)) {
      const { allow, max = 1, approve } = config;
      const open = fields.find((field) => isOpen(field, config));
      if (open !== undefined && approve !== true) {
        const message = `a stranger who steers the agent can have it choose any \`${open.name}\` with \`${config.deliver}\``;
        const hint = `list those that are allowed, \`allow: { ${open.name}: […] }\`, or have a person look at each: \`approve: true\``;
        report({ path: ['outputs', name, 'deliver'], at: 'value', message, hint });
      }
      if (max <= MOST || allow !== undefined || approve === true) continue;
      const message = `a stranger who steers the agent can have it post ${max} messages of any text to \`${config.deliver}\``;
      const hint = `lower \`max\` to ${MOST} or less, list what is allowed (\`allow\`), or have a person look at each: \`approve: true\``;
      report({ path: ['outputs', name, 'max'], at: 'value', message, hint });
    }
  },
});
