/** A value that is not there when it is needed. */
import type { Rule } from './support/rule.ts';

const CONFIG = `platforms:
  webhook:
    enabled: true
    secret: env:WEBHOOK_SECRET
    routes:
      alerts:
        prompt: "{title}"
`;

export const targetValue: Rule = {
  id: 'target-value',
  severity: 'error',
  title: 'A text of a target names a value that does not exist, or that has no place in it.',
  why: "The request would be sent with a hole in it, or a stranger's text would end up where only the operator's belongs.",
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
  headers: { authorization: "Bearer {tokn}" }
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
