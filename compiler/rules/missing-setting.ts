/** A target that is switched on without its credentials. */
import type { Rule } from './support/rule.ts';

export const missingSetting: Rule = {
  id: 'missing-setting',
  severity: 'warning',
  title: 'An enabled target lacks a setting it cannot deliver without.',
  why: 'Every delivery to it fails.',
  bad: {
    config: `platforms:
  webhook:
    enabled: true
    secret: env:WEBHOOK_SECRET
    routes:
      alerts:
        prompt: "{title}"
  messenger_a:
    enabled: true
`,
  },
  good: {
    config: `platforms:
  webhook:
    enabled: true
    secret: env:WEBHOOK_SECRET
    routes:
      alerts:
        prompt: "{title}"
  messenger_a:
    enabled: true
    token: env:MESSENGER_A_TOKEN
`,
  },
};
