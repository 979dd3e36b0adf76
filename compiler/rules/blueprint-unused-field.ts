/** A question whose answer changes nothing. */
import type { Rule } from './support/rule.ts';

const CONFIG = `platforms:
  webhook:
    enabled: true
    secret: env:WEBHOOK_SECRET
    routes:
      alerts:
        prompt: "{title}"
`;

export const blueprintUnusedField: Rule = {
  id: 'blueprint-unused-field',
  severity: 'warning',
  title: 'A field of a blueprint is used neither in its schedule nor in its prompt.',
  why: 'The user is asked for something that has no effect.',
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
  - { name: kind, type: text, label: Which tea?, default: green }
schedule: "{minute} {hour} * * *"
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
  - { name: kind, type: text, label: Which tea?, default: green }
schedule: "{minute} {hour} * * *"
prompt: "Remind me to make {kind} tea."
`,
    },
  },
};
