/** A word in a body that means nothing. */
import type { Rule } from './support/rule.ts';

const CONFIG = `platforms:
  webhook:
    enabled: true
    secret: env:WEBHOOK_SECRET
    routes:
      alerts:
        prompt: "{title}"
`;

export const targetBody: Rule = {
  id: 'target-body',
  severity: 'error',
  title: 'The body of a request holds a key with `$` that is no instruction.',
  why: 'It would be sent to the service as it stands.',
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
  json: { to: { $number: "{chat_id}" }, text: "{text}" }
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
  json: { to: { $int: "{chat_id}" }, text: "{text}" }
text: { limit: 200 }
success: { status: 200 }
`,
    },
  },
};
