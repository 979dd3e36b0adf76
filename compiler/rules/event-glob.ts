/** An event glob that cannot be read. */
import type { Rule } from './support/rule.ts';

export const eventGlob: Rule = {
  id: 'event-glob',
  severity: 'error',
  title: 'An entry of `events` has brackets that do not pair.',
  why: 'It would match nothing, and every event would be answered `ignored`.',
  bad: {
    config: `platforms:
  webhook:
    enabled: true
    secret: env:WEBHOOK_SECRET
    routes:
      pulls:
        events: ["pull_request{_review"]
        prompt: "{pull_request.title}"
`,
  },
  good: {
    config: `platforms:
  webhook:
    enabled: true
    secret: env:WEBHOOK_SECRET
    routes:
      pulls:
        events: ["pull_request{,_review}"]
        prompt: "{pull_request.title}"
`,
  },
};
