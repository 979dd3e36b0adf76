/** A variable that cannot be understood. */
import type { Rule } from '../diagnostics/rule.ts';

export const invalidEnvironment = {
  id: 'invalid-environment',
  severity: 'error',
  title: '`WEBHOOK_ENABLED` or `WEBHOOK_PORT` holds something else than a truth value or a port.',
  why: "Going on with the config file's value would start a server nobody asked for.",
} as const satisfies Rule;
