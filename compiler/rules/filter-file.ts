/** An `in_file` that names no file. */
import type { Rule } from './support/rule.ts';

export const filterFile: Rule = {
  id: 'filter-file',
  severity: 'error',
  title: "The path of an `in_file` is a folder or another user's home.",
  why: 'The list could never be read.',
  bad: {
    config: `platforms:
  webhook:
    enabled: true
    secret: env:WEBHOOK_SECRET
    routes:
      pulls:
        filters: { field: sender.login, in_file: lists/ }
        prompt: "{title}"
`,
  },
  good: {
    config: `platforms:
  webhook:
    enabled: true
    secret: env:WEBHOOK_SECRET
    routes:
      pulls:
        filters: { field: sender.login, in_file: lists/team.txt }
        prompt: "{title}"
`,
    files: {
      '~/.hookwright/lists/team.txt': `octocat
`,
    },
  },
};
