/** A header that cannot be sent. */
import type { Rule } from './support/rule.ts';

const CONFIG = `platforms:
  webhook:
    enabled: true
    secret: env:WEBHOOK_SECRET
    routes:
      alerts:
        prompt: "{title}"
`;

export const targetHeader: Rule = {
  id: 'target-header',
  severity: 'error',
  title: 'A request of a target names a header that is none, or one that the executor sets itself.',
  why: 'The request would be refused before it leaves the machine.',
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
  headers: { authorization: "Bearer {token}", content-length: "7" }
  json: { to: "{chat_id}", text: "{text}" }
text: { limit: 200 }
success: { status: 200 }
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
