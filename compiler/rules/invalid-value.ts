/** A value that is not allowed. */
import type { Rule } from './support/rule.ts';

export const invalidValue: Rule = {
  id: 'invalid-value',
  severity: 'error',
  title: 'A value is none of those that are possible here.',
  why: 'Nothing could be done with it.',
  bad: {
    config: `platforms:
  webhook:
    enabled: true
    secret: env:WEBHOOK_SECRET
    routes:
      alerts:
        prompt: "{title}"
gateway: { durability: ful }
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
gateway: { durability: full }
`,
  },
};
