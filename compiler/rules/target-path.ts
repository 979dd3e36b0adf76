/** A path that is no path. */
import type { Rule } from './support/rule.ts';

const CONFIG = `platforms:
  webhook:
    enabled: true
    secret: env:WEBHOOK_SECRET
    routes:
      alerts:
        prompt: "{title}"
`;

export const targetPath: Rule = {
  id: 'target-path',
  severity: 'error',
  title: 'The `path` of a request does not start with `/`, or holds a query.',
  why: 'It would be joined to the base URL in a way nobody meant; parameters belong in `query`, where they are escaped.',
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
  path: send
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
