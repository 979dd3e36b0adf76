/** Routes that are not served. */

import { rule } from './support/rule.ts';

export const webhookDisabled = rule('webhook-disabled', {
  config({ server, settings, overrides, invalidNames }, report) {
    if (server.enabled || invalidNames.has('setting:enabled') || settings.routes.length === 0) return;
    const path = ['platforms', 'webhook', 'enabled'];
    const off = overrides.enabled === false ? ' by WEBHOOK_ENABLED' : '';
    const message = `the webhook adapter is switched off${off}: no route is served`;
    const hint = 'set `platforms.webhook.enabled: true`, or WEBHOOK_ENABLED=true';
    report({ path, at: 'value', message, hint });
  },
});
