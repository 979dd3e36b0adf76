/** An include that finds nothing. */
import type { Rule } from './support/rule.ts';

export const emptyInclude: Rule = {
  id: 'empty-include',
  severity: 'warning',
  title: 'A glob under `include` matches no file.',
  why: 'A moved folder or a typo would silently drop every route in it.',
  bad: {
    config: `include: ["routes/*.yaml"]
platforms:
  webhook:
    enabled: true
    secret: env:WEBHOOK_SECRET
    routes:
      alerts:
        prompt: "{title}"
`,
  },
  good: {
    config: `include: ["routes/*.yaml"]
platforms:
  webhook:
    enabled: true
    secret: env:WEBHOOK_SECRET
    routes:
      alerts:
        prompt: "{title}"
`,
    files: {
      'routes/alerts.yaml': `gateway: { drain_seconds: 10 }
`,
    },
  },
};
