/** A whole payload in the prompt of an agent with powerful tools (§5.5). */

import { agentToolsets } from '../../../../base/agent-plan.ts';
import { DEFAULT_TOOLSETS, webhookToolsets } from '../../../../compiler/config/toolsets.ts';
import { rule } from '../../../../compiler/rules/support/rule.ts';
import { oneOf } from '../../../../compiler/text/suggest.ts';
import type { RouteView } from '../../../../compiler/views/views.ts';
import { actingToolsets } from '../untrusted/untrusted-texts.ts';

export const rawPayload = rule('raw-payload', {
  route(route, report) {
    if (route.mode !== 'agent') return;
    const { config, profilePlan } = route;
    const names = agentToolsets(config.toolsets ?? profilePlan?.toolsets ?? [], profilePlan, config.agent ?? null);
    const wide = webhookToolsets(names, route.scope.table.toolsets).filter((name) => !DEFAULT_TOOLSETS.includes(name));
    if (wide.length === 0 || isToldOtherwise(route)) return;
    const tools = `the agent may use ${oneOf(wide, 'and')}`;
    const hint = 'name the fields the agent needs: `{pull_request.title}`';
    const { prompt } = route.config;
    if (prompt === undefined) {
      report({ path: [], at: 'key', message: `the default prompt shows the whole payload, and ${tools}`, hint });
      return;
    }
    const offset = prompt.indexOf(DUMP);
    if (offset < 0) return;
    const message = `\`${DUMP}\` shows the whole payload, and ${tools}`;
    const within = { offset, length: DUMP.length };
    report({ path: ['prompt'], at: 'value', within, message, hint });
  },
});

const DUMP = '{__raw__}';

/** Whether `untrusted-input` reports this route in more detail. */
const isToldOtherwise = (route: RouteView): boolean =>
  route.config.accept_untrusted === undefined && actingToolsets(route).length > 0;
