/** A prompt that asks for a value nobody gives. */
import type { Rule } from './support/rule.ts';

const CONFIG = `platforms:
  webhook:
    enabled: true
    secret: env:WEBHOOK_SECRET
    routes:
      alerts:
        prompt: "{title}"
`;

export const blueprintPrompt: Rule = {
  id: 'blueprint-prompt',
  severity: 'error',
  title: 'The prompt of a blueprint holds a placeholder that is none of its fields.',
  why: 'It would stay in every prompt of the job as it stands.',
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
schedule: "{minute} {hour} * * *"
prompt: "Remind me to make {kind} tea."
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
