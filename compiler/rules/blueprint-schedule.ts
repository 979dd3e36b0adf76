/** A schedule that some choice of options breaks (§2.8). */
import type { Rule } from './support/rule.ts';

const CONFIG = `platforms:
  webhook:
    enabled: true
    secret: env:WEBHOOK_SECRET
    routes:
      alerts:
        prompt: "{title}"
`;

export const blueprintSchedule: Rule = {
  id: 'blueprint-schedule',
  severity: 'error',
  title:
    "A combination of a blueprint's options does not make a valid five-field cron expression, or leaves a placeholder unfilled.",
  why: 'The job would be refused only once a user has chosen that option.',
  bad: {
    config: CONFIG,
    files: {
      '~/.hookwright/catalog/blueprints/tea.yaml': `key: tea
title: Tea
description: A reminder to make tea.
category: daily
tags: [tea]
fields:
  - { name: time, type: time, label: When?, default: "16:00" }
schedule: "{minute} {hours} * * *"
prompt: Remind me to make tea.
`,
    },
  },
  good: {
    config: CONFIG,
    files: {
      '~/.hookwright/catalog/blueprints/tea.yaml': `key: tea
title: Tea
description: A reminder to make tea.
category: daily
tags: [tea]
fields:
  - { name: time, type: time, label: When?, default: "16:00" }
schedule: "{minute} {hour} * * *"
prompt: Remind me to make tea.
`,
    },
  },
};
