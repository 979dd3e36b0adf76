/** A default that the field itself would refuse. */
import type { Rule } from './support/rule.ts';

const CONFIG = `platforms:
  webhook:
    enabled: true
    secret: env:WEBHOOK_SECRET
    routes:
      alerts:
        prompt: "{title}"
`;

export const blueprintDefault: Rule = {
  id: 'blueprint-default',
  severity: 'error',
  title: "The default of a blueprint's field is not among its options, or is no time.",
  why: 'The blueprint could not be used as it is offered.',
  bad: {
    config: CONFIG,
    files: {
      '~/.hookwright/catalog/blueprints/tea.yaml': `key: tea
title: Tea
description: A reminder to make tea.
category: daily
tags: [tea]
fields:
  - { name: time, type: time, label: When?, default: "4 pm" }
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
schedule: "{minute} {hour} * * *"
prompt: Remind me to make tea.
`,
    },
  },
};
