/** A subscription that a running gateway rejects (§2.7). */
import type { Problem } from '../diagnostics/problem.ts';
import type { ListedRule } from './support/listed-rule.ts';

export const subscriptionRejected = {
  id: 'subscription-rejected',
  group: 'effect',
  severity: 'warning',
  title: 'An entry of `webhook_subscriptions.json` has an error.',
  why: 'The gateway rejects only this subscription and serves the others; its sender is answered 404. The message describes the error.',
  /** Reports only errors: a gateway serves subscriptions with warnings. @param problem problem of the subscription */
  check(subscription: string, problem: Problem): readonly Problem[] {
    if (problem.rule.severity === 'warning') return [];
    const message = `the gateway rejects the subscription \`${subscription}\`: ${problem.message}`;
    return [{ ...problem, rule: subscriptionRejected, message }];
  },
} as const satisfies ListedRule;
