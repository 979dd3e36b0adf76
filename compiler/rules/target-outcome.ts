/** An outcome that cannot come to pass. */
import type { Rule } from './support/rule.ts';

const CONFIG = `platforms:
  webhook:
    enabled: true
    secret: env:WEBHOOK_SECRET
    routes:
      alerts:
        prompt: "{title}"
`;

export const targetOutcome: Rule = {
  id: 'target-outcome',
  severity: 'error',
  title: 'An outcome is `refresh`, and the target has no `exchange` to get a new token from.',
  why: 'The delivery would be given up in a way nobody wrote down.',
  bad: {
    config: CONFIG,
    files: {
      '~/.hookwright/catalog/targets/pager.yaml': `title: Pager
settings:
  token: { secret: true, required: true, help: Token of the account. }
address:
  chat_id: { help: Number of the pager. }
base: https://pager.example.org
request:
  path: /send
  headers: { authorization: "Bearer {token}" }
  json: { to: "{chat_id}", text: "{text}" }
text: { limit: 200 }
success: { status: 200 }
outcomes:
  - { when: { status: 401 }, outcome: refresh }
`,
    },
  },
  good: {
    config: CONFIG,
    files: {
      '~/.hookwright/catalog/targets/pager.yaml': `title: Pager
settings:
  token: { secret: true, required: true, help: Token of the account. }
address:
  chat_id: { help: Number of the pager. }
base: https://pager.example.org
request:
  path: /send
  headers: { authorization: "Bearer {token}" }
  json: { to: "{chat_id}", text: "{text}" }
text: { limit: 200 }
success: { status: 200 }
outcomes:
  - { when: { status: 401 }, outcome: auth }
`,
    },
  },
};
