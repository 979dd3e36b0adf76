/** A dynamic route that the running gateway leaves out (§2.7). */
import type { Problem } from '../diagnostics/problem.ts';
import type { ListedRule } from './support/listed-rule.ts';

export const subscriptionRejected = {
  id: 'subscription-rejected',
  group: 'effect',
  severity: 'warning',
  title: 'An entry of `webhook_subscriptions.json` has an error.',
  why: 'The gateway leaves a faulty subscription out and goes on with the others: its sender is answered 404. The rule that is broken is named in the message.',
  /** @param problem of one subscription, whose other problems are as they are: a gateway serves it with a warning */
  check(subscription: string, problem: Problem): readonly Problem[] {
    if (problem.rule.severity === 'warning') return [];
    const message = `the gateway rejects the subscription \`${subscription}\`: ${problem.message}`;
    return [{ ...problem, rule: subscriptionRejected, message }];
  },
} as const satisfies ListedRule;
