/** Braces doubled as in other template languages. */
import type { Rule } from './support/rule.ts';

export const templateBraces: Rule = {
  id: 'template-braces',
  severity: 'warning',
  title: 'A placeholder is written with two pairs of braces.',
  why: 'One pair is enough; the other one stays in the text.',
  bad: {
    config: `platforms:
  webhook:
    enabled: true
    secret: env:WEBHOOK_SECRET
    routes:
      alerts:
        prompt: "New issue: {{issue.title}}"
`,
  },
  good: {
    config: `platforms:
  webhook:
    enabled: true
    secret: env:WEBHOOK_SECRET
    routes:
      alerts:
        prompt: "New issue: {issue.title}"
`,
  },
};
