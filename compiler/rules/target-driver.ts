/** A target that is code and data at once. */
import type { Rule } from './support/rule.ts';

const CONFIG = `platforms:
  webhook:
    enabled: true
    secret: env:WEBHOOK_SECRET
    routes:
      alerts:
        prompt: "{title}"
`;

export const targetDriver: Rule = {
  id: 'target-driver',
  severity: 'error',
  title: 'A target with a driver of its own also says how its requests are made.',
  why: 'The driver would not read it.',
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
driver: log
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
`,
    },
  },
};
