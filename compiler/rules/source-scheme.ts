/** A signature scheme that could not be verified. */
import type { Rule } from './support/rule.ts';

export const sourceScheme: Rule = {
  id: 'source-scheme',
  severity: 'error',
  title: 'A source leaves out or contradicts what its primitive needs.',
  why: 'A signature could not be computed, or would not cover what it must cover.',
  bad: {
    config: `platforms:
  webhook:
    enabled: true
    secret: env:WEBHOOK_SECRET
    routes:
      alerts:
        prompt: "{title}"
sources:
  my-shop: { verify: hmac-sha256, signed: "{body}" }
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
sources:
  my-shop: { verify: hmac-sha256, signature: { header: X-Shop-Signature }, signed: "{body}" }
`,
  },
};
