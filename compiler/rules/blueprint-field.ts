/** A field of a blueprint that cannot be filled in. */
import type { Rule } from './support/rule.ts';

const CONFIG = `platforms:
  webhook:
    enabled: true
    secret: env:WEBHOOK_SECRET
    routes:
      alerts:
        prompt: "{title}"
`;

export const blueprintField: Rule = {
  id: 'blueprint-field',
  severity: 'error',
  title: "A field's name is taken or reserved, or its options do not fit its type.",
  why: 'Nobody could say in a command or a link which of the two is meant.',
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
  - { name: cups, type: enum, label: How many?, default: "1" }
schedule: "{minute} {hour} * * *"
prompt: "Remind me to make {cups} cups of tea."
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
  - { name: cups, type: enum, label: How many?, default: "1", options: ["1", "2"] }
schedule: "{minute} {hour} * * *"
prompt: "Remind me to make {cups} cups of tea."
`,
    },
  },
};
