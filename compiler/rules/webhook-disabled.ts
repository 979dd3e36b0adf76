/** Routes that are not served. */

import type { Problem } from '../diagnostics/problem.ts';
import type { ViewRule } from './support/view-rule.ts';

export const webhookDisabled = {
  id: 'webhook-disabled',
  checkConfig({ server, settings, overrides, invalidNames }): readonly Problem[] {
    if (server.enabled || invalidNames.has('setting:enabled') || settings.routes.length === 0) return [];
    const path = ['platforms', 'webhook', 'enabled'];
    const off = overrides.enabled === false ? ' by WEBHOOK_ENABLED' : '';
    const message = `the webhook adapter is switched off${off}: no route is served`;
    const hint = 'set `platforms.webhook.enabled: true`, or WEBHOOK_ENABLED=true';
    return [{ rule: 'webhook-disabled', path, at: 'value', message, hint }];
  },
} as const satisfies ViewRule;
