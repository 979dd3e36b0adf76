/** A variant that needs what does not exist. */
import type { Rule } from './support/rule.ts';

const CONFIG = `platforms:
  webhook:
    enabled: true
    secret: env:WEBHOOK_SECRET
    routes:
      alerts:
        prompt: "{title}"
`;

export const targetNeeds: Rule = {
  id: 'target-needs',
  severity: 'error',
  title: '`needs` of a variant names no setting of the target.',
  why: 'The variant could never be chosen.',
  bad: {
    config: CONFIG,
    files: {
      '~/.hookwright/catalog/targets/pager.yaml': `title: Pager
settings:
  token: { secret: true, help: Token of the account. }
address:
  chat_id: { help: Number of the pager. }
base: https://pager.example.org
text: { limit: 200 }
success: { status: 200 }
variants:
  account:
    needs: [tokn]
    request:
      path: /send
      headers: { authorization: "Bearer {token}" }
      json: { to: "{chat_id}", text: "{text}" }
`,
    },
  },
  good: {
    config: CONFIG,
    files: {
      '~/.hookwright/catalog/targets/pager.yaml': `title: Pager
settings:
  token: { secret: true, help: Token of the account. }
address:
  chat_id: { help: Number of the pager. }
base: https://pager.example.org
text: { limit: 200 }
success: { status: 200 }
variants:
  account:
    needs: [token]
    request:
      path: /send
      headers: { authorization: "Bearer {token}" }
      json: { to: "{chat_id}", text: "{text}" }
`,
    },
  },
};
