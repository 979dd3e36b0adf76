/** A dynamic route that the running gateway leaves out (§2.7). */
import type { Rule } from '../diagnostics/rule.ts';

export const subscriptionRejected = {
  id: 'subscription-rejected',
  severity: 'warning',
  title: 'An entry of `webhook_subscriptions.json` has an error.',
  why: 'The gateway leaves a faulty subscription out and goes on with the others: its sender is answered 404. The rule that is broken is named in the message.',
} as const satisfies Rule;
